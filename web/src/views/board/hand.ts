// What hears of a card that is pressed, and may pick it up. What carries cards is loaded when one points at the board, walks
// through it or presses a card; that press is done again once it is there.
import { useCallback, useRef, useState, type RefObject } from "react";

import { hold, late, useLate } from "@/ui";
import type { Press, Waiting } from "@/views/board/press";

const carries = late(() => import("@/views/board/carry").then((part) => part.Carry));
const ENDS = ["mouseup", "touchend", "touchcancel", "touchmove"];

export function useHand() {
  const [wanted, setWanted] = useState(false);
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const Carry = useLate(carries, wanted, () => {
    setWanted(false);
    setWaiting(null);
  });
  const soon = () => setWanted(true);
  const press: RefObject<Press | null> = useRef<Press | null>((event) => {
    const { type, currentTarget, nativeEvent, key } = event;
    if (key !== undefined && key !== " ") return;
    soon();
    if (key !== undefined) hold(nativeEvent as KeyboardEvent);
    const first = { type, currentTarget, nativeEvent, ...(key === undefined ? {} : { key }), moved: null };
    setWaiting(first);
    if (key === undefined) follow(first, () => setWaiting((now) => (now === first ? null : now)));
  });
  return { Carry, press, waiting, soon, taken: useCallback(() => setWaiting(null), []) };
}

/** Where the pointer goes, until it is let go: then it was no more than a click. */
function follow(first: Waiting, ended: () => void): void {
  const over = new AbortController();
  const moved = (event: MouseEvent) => (first.moved = event);
  window.addEventListener("mousemove", moved, { signal: over.signal });
  for (const each of ENDS)
    window.addEventListener(
      each,
      () => {
        over.abort();
        ended();
      },
      { signal: over.signal },
    );
}
