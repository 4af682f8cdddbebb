// The keyboard: a view registers its keys while it is shown; the latest registration is asked first. Keys are ignored
// during typing and behind an open dialog. The help (`?`) lists the registered keys.
import { useEffect, useState, useSyncExternalStore } from "react";

export interface Key {
  /** As `KeyboardEvent.key` says it: `j`, `Enter`, `?`. */
  key: string;
  /** What it does, in the reader's language: shown by the help. */
  words: string;
  run: () => void;
  /** Answers where nothing in front of it does: the frame's own. */
  last?: boolean;
  /** Answers inside of an open dialog, and there alone. */
  inside?: boolean;
}

let layers: (readonly Key[])[] = [];
const listeners = new Set<() => void>();

function changed(next: (readonly Key[])[]): void {
  layers = next;
  for (const each of listeners) each();
}

/** The keys of a component, while it is there. */
export function useKeys(keys: readonly Key[]): void {
  useEffect(() => {
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
  return [...flat.filter((each) => !each.last), ...flat.filter((each) => each.last)];
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const inside = document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
  const found = inOrder(layers).find((each) => each.key === event.key && (each.inside ?? false) === inside);
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
  step: (by: number) => void;
} {
  const [at, put] = useState<string | null>(null);
  const found = at === null ? -1 : ids.indexOf(at);
  const place = found === -1 && first && ids.length > 0 ? 0 : found;
  const step = (by: number) => {
    if (ids.length === 0) return;
    const next = place === -1 ? (by > 0 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, place + by));
    put(ids[next] ?? null);
  };
  return { at: ids[place] ?? null, put, step };
}
