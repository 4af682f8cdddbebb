// Whether somebody has scrolled a log to its end, or away from it; what scrolls by itself does not count.
import { useEffect, useRef, type RefObject } from "react";

const NEAR_PX = 48;
/** A browser first tells of the wheel or the finger, and scrolls then: what scrolls this soon is the reader's. */
const SOON_MS = 1000;
const TURNS = ["wheel", "touchmove", "keydown"];
const DONE = ["keyup", "pointerup"];

export function useMoves(box: RefObject<HTMLElement | null>, onFollow: (following: boolean) => void): void {
  const follow = useRef(onFollow);
  useEffect(() => {
    follow.current = onFollow;
  }, [onFollow]);
  useEffect(() => {
    const frame = box.current;
    if (frame === null) return;
    let [until, top] = [0, frame.scrollTop];
    const isAtEnd = () => frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR_PX;
    const turned = (event: Event) => {
      until = performance.now() + SOON_MS;
      if (event instanceof WheelEvent && event.deltaY > 0 && isAtEnd()) follow.current(true); // it need not scroll further
    };
    const done = () => follow.current(isAtEnd());
    const scrolled = () => {
      const up = frame.scrollTop < top;
      top = frame.scrollTop;
      if (performance.now() < until && (up || isAtEnd())) follow.current(isAtEnd());
    };
    const heard = [
      ...TURNS.map((kind) => [kind, turned] as const),
      ...DONE.map((kind) => [kind, done] as const),
      ["scroll", scrolled] as const,
    ];
    for (const [kind, listener] of heard) frame.addEventListener(kind, listener, { passive: true });
    return () => {
      for (const [kind, listener] of heard) frame.removeEventListener(kind, listener);
    };
  }, [box]);
}
