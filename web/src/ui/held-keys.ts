// Keys that are pressed while what they are meant for is still being loaded: they are held, and pressed again, in their
// order, once it is there. So nobody has to wait before they type, and nothing else takes what they typed.
const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta"]);
const held: KeyboardEvent[] = [];
let holders = 0;
let pressing = false;

/** Holds keys until the returned function is called, and what is then drawn has taken the focus. */
export function holdKeys(): () => void {
  holders++;
  window.addEventListener("keydown", hold, { capture: true }); // adding it twice changes nothing
  return () => {
    holders--;
    afterDrawing(goOn);
  };
}

/** The key that something is loaded for. Who calls it holds those that follow. */
export function hold(event: KeyboardEvent): void {
  if (pressing || MODIFIERS.has(event.key) || event.isComposing) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  held.push(event);
}

/** One at a time: what a key does may be drawn before the next one means anything. */
function goOn(): void {
  if (holders > 0) return;
  const next = held.shift();
  if (next === undefined) return window.removeEventListener("keydown", hold, { capture: true });
  press(next);
  afterDrawing(goOn);
}

const afterDrawing = (then: () => void) => requestAnimationFrame(() => window.setTimeout(then));

/** An event that is not held. Whether it goes on to do what the browser does. */
export function dispatch(place: EventTarget, event: Event): boolean {
  pressing = true;
  try {
    return place.dispatchEvent(event);
  } finally {
    pressing = false;
  }
}

/** As if it were pressed now, where the focus is. Letters are written into a field, as the browser itself does it. */
function press(was: KeyboardEvent): void {
  const place = document.activeElement ?? document.body;
  const { key, code, ctrlKey, metaKey, altKey, shiftKey } = was;
  const again = { key, code, ctrlKey, metaKey, altKey, shiftKey, bubbles: true, cancelable: true };
  const wanted = dispatch(place, new KeyboardEvent("keydown", again));
  const isField = place instanceof HTMLInputElement || place instanceof HTMLTextAreaElement;
  if (!wanted || !isField || ctrlKey || metaKey || altKey) return;
  // the browser's own way is the only one that Undo and React hear of
  if (key.length === 1) document.execCommand("insertText", false, key);
  else if (key === "Backspace") document.execCommand("delete");
}
