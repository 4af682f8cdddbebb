// What of the chart the window shows: how wide it is and how far it is scrolled; it follows now and the slider, and zooms
// by ⌘ and the wheel around the pointer.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

import type { Scale } from "./scale";

type Box = RefObject<HTMLDivElement | null>;

/** Takes the instant that stays under the pointer while the window zooms, and how far from the names that is: it holds
 * for one change only. */
type Anchor = () => { at: number; x: number } | null;

/** How wide the window is, and how far it is scrolled. */
export function useWindow(box: Box) {
  const [width, setWidth] = useState(1000);
  const [left, setLeft] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return { width, left, setLeft };
}

interface Followed {
  scale: Scale;
  /** Where the window stands while one looks at now. */
  end: number;
  room: number;
  then: number | null;
  /** Another one: the window goes there again. */
  key: string;
  anchor: Anchor;
}

/** Who looks at now goes with it; who has scrolled back is left alone; where the slider goes, the window follows. */
export function useFollow(box: Box, { scale, end, room, then, key, anchor }: Followed): void {
  const known = useRef({ end: -1, key: "" });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const atEnd = element.scrollLeft >= known.current.end - 2;
    const held = anchor(); // also where the wheel has changed nothing
    if (held !== null) element.scrollTo?.({ left: scale.x(held.at) - held.x });
    else if (then === null && (atEnd || known.current.key !== key)) element.scrollTo?.({ left: end });
    known.current = { end, key };
  });
  const x = then === null ? null : scale.x(then);
  useEffect(() => {
    const element = box.current;
    if (element === null || x === null) return;
    if (x < element.scrollLeft || x > element.scrollLeft + room) element.scrollTo?.({ left: x - room / 2 });
  }, [box, x, room]);
}

const LINE_PX = 16;

/** `onWheel` is told by how many pixels the wheel was turned with ⌘ or Ctrl. */
export function useWheel(box: Box, scale: Scale, names: number, onWheel: (pixels: number) => void): Anchor {
  const anchor = useRef<{ at: number; x: number } | null>(null);
  const now = useRef({ scale, names, onWheel });
  useEffect(() => {
    now.current = { scale, names, onWheel };
  });
  useEffect(() => {
    const element = box.current;
    const turned = (event: WheelEvent) => {
      if (element === null || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault(); // the browser would zoom the page
      const x = Math.max(0, event.clientX - element.getBoundingClientRect().left - now.current.names);
      anchor.current = { at: now.current.scale.at(element.scrollLeft + x), x };
      now.current.onWheel(event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1));
    };
    element?.addEventListener("wheel", turned, { passive: false });
    return () => element?.removeEventListener("wheel", turned);
  }, [box]);
  return useCallback(() => {
    const held = anchor.current;
    anchor.current = null;
    return held;
  }, []);
}
