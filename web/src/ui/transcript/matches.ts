// The match that one looks at, within a row that may be higher than the window.
import type { RefObject } from "react";

import type { Item } from "./lines";

const FRAMES = 40;
const ENOUGH = 4;

/** How many matches of a row stand before the line of one. */
export function marksBefore(item: Item | undefined, line: number, words: string): number {
  if (item === undefined || words === "" || !("text" in item)) return 0;
  const lines = item.text.toLowerCase().split("\n");
  const before = lines.slice(0, Math.max(0, line - item.line)).join("\n");
  return before.split(words.toLowerCase()).length - 1;
}

/** Scrolls to a match once its row is drawn, and until the rows around have got their heights. Answers what ends that. */
export function comeTo(box: RefObject<HTMLElement | null>, index: number, nth: number): () => void {
  let [frames, there, next] = [0, 0, 0];
  const look = () => {
    const marks = box.current?.querySelectorAll(`[data-index="${index}"] mark`) ?? [];
    const mark = marks[nth] ?? marks[0];
    const [place, frame] = [mark?.getBoundingClientRect(), box.current?.getBoundingClientRect()];
    const inside = place && frame && place.top >= frame.top && place.bottom <= frame.bottom;
    there = inside ? there + 1 : 0;
    if (!inside) mark?.scrollIntoView({ block: "center" });
    if (++frames < FRAMES && there < ENOUGH) next = requestAnimationFrame(look);
  };
  next = requestAnimationFrame(look);
  return () => cancelAnimationFrame(next);
}
