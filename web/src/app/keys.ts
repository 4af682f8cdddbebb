// The keyboard: a view registers its keys while it is shown; the latest registration is asked first. Keys are ignored
// during typing and behind an open dialog. The help (`?`) lists the registered keys.
import { useLayoutEffect, useState, useSyncExternalStore } from "react";

export interface Key {
  /** As `KeyboardEvent.key` says it: `j`, `Enter`, `?`; two with a blank between them are pressed one after the other. */
  key: string;
  /** What it does, in the reader's language: shown by the help. */
  words: string;
  run: () => void;
  /** Answers where nothing in front of it does: the frame's own. */
  last?: boolean;
  /** Answers before all others: of what stands beside a view. */
  first?: boolean;
  /** Answers inside of an open dialog, and there alone. */
  inside?: boolean;
}

let layers: (readonly Key[])[] = [];
const listeners = new Set<() => void>();

function changed(next: (readonly Key[])[]): void {
  layers = next;
  for (const each of listeners) each();
}

/** The keys of a component, from the moment in which it is drawn: an effect would hear them some turns later. */
export function useKeys(keys: readonly Key[]): void {
  useLayoutEffect(() => {
    if (layers.length === 0) window.addEventListener("keydown", pressed);
    changed([...layers, keys]);
    return () => {
      changed(layers.filter((each) => each !== keys));
      if (layers.length === 0) window.removeEventListener("keydown", pressed);
    };
  }, [keys]);
}

/** Everything that can be pressed now, each key once. */
export function useKnownKeys(): Key[] {
  const known = useSyncExternalStore(
    (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    () => layers,
  );
  return [
    ...new Map(
      inOrder(known)
        .toReversed()
        .map((each) => [each.key, each]),
    ).values(),
  ].toReversed();
}

function inOrder(all: (readonly Key[])[]): Key[] {
  const flat = all.toReversed().flat();
  const [first, rest] = [flat.filter((each) => each.first), flat.filter((each) => !each.first)];
  return [...first, ...rest.filter((each) => !each.last), ...rest.filter((each) => each.last)];
}

/** What lies over the view. A panel beside it does not. */
const OVER = '[role="dialog"]:not([data-beside]), [role="menu"], [role="listbox"]';
const SEQUENCE_MS = 1500;
let first: { key: string; at: number } | null = null;

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const inside = document.querySelector(OVER) !== null;
  const here = inOrder(layers).filter((each) => (each.inside ?? false) === inside);
  const before = first !== null && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ` : "";
  first = null;
  const second = before === "" ? undefined : here.find((each) => each.key === before + event.key);
  const found = second ?? here.find((each) => each.key === event.key);
  if (found === undefined && here.some((each) => each.key.startsWith(`${event.key} `)))
    first = { key: event.key, at: event.timeStamp };
  if (found === undefined || (event.key === "Enter" && isOperable(event.target))) return;
  event.preventDefault();
  found.run();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

/** A button or link that has the focus is meant by Enter, not the row that the cursor stands on. */
function isOperable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a[href], [role=button]") !== null;
}

/** Where one stands in a list: moves with what it stands on when the list changes around it. `first`: never nowhere. */
export function useCursor(
  ids: readonly string[],
  { first = false }: { first?: boolean } = {},
): {
  at: string | null;
  put: (id: string | null) => void;
  /** Where it then stands. */
  step: (by: number) => string | null;
} {
  const [at, put] = useState<string | null>(null);
  const found = at === null ? -1 : ids.indexOf(at);
  const place = found === -1 && first && ids.length > 0 ? 0 : found;
  const step = (by: number) => {
    if (ids.length === 0) return null;
    const next = place === -1 ? (by > 0 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, place + by));
    put(ids[next] ?? null);
    return ids[next] ?? null;
  };
  return { at: ids[place] ?? null, put, step };
}
