// Escape closes what lies on top, from the moment in which it is drawn. Radix would hear the key only some turns after
// that, and until then take what lies below for the top.
import { useEffectEvent, useLayoutEffect } from "react";

const layers: (() => void)[] = [];

/** Stands inside of a dialog, a menu or whatever else lies over the page, and is there as long as that is. */
export function EscapeCloses({ onClose }: { onClose: () => void }) {
  const close = useEffectEvent(onClose);
  useLayoutEffect(() => {
    const layer = () => close();
    // before Radix, which leaves alone what is prevented, and after keys that are held
    if (layers.length === 0) document.addEventListener("keydown", pressed, { capture: true });
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) document.removeEventListener("keydown", pressed, { capture: true });
    };
  }, []);
  return null;
}

function pressed(event: KeyboardEvent): void {
  if (event.key !== "Escape") return;
  event.preventDefault();
  if (!event.isComposing && !isOwn(event.target)) layers.at(-1)?.();
}

/** A field that is being edited takes Escape for itself. */
const isOwn = (target: EventTarget | null) => target instanceof HTMLElement && target.dataset.escape === "own";
