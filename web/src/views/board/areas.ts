// Where cards can be put down: the columns and rails that are drawn now, by lane and status. They say where they are, and
// what carries cards (carry.tsx, which may not be loaded yet) reads it here.
import { useCallback, useSyncExternalStore, type RefCallback } from "react";

let areas: ReadonlyMap<string, HTMLElement> = new Map();
const listeners = new Set<() => void>();

function become(next: ReadonlyMap<string, HTMLElement>): void {
  areas = next;
  for (const each of listeners) each();
}

/** The `ref` of an area. `data-over` is on it while a card is carried over it. */
export function useArea(lane: string, status: string): RefCallback<HTMLElement> {
  const id = `${lane}|${status}`;
  return useCallback(
    (node) => {
      if (node === null) return;
      become(new Map(areas).set(id, node));
      return () => become(new Map([...areas].filter(([, each]) => each !== node)));
    },
    [id],
  );
}

export function useAreas(): ReadonlyMap<string, HTMLElement> {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => areas,
  );
}
