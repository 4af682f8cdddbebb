// Time as pixels: how much the window shows, where the lines stand, and which bars go under which. Pure.

export type Zoom = "minutes" | "hour" | "day" | "week";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How much time fills the window, and how far its lines stand apart. */
export const ZOOMS: Record<Zoom, { shows: number; step: number }> = {
  minutes: { shows: 10 * MINUTE, step: MINUTE },
  hour: { shows: HOUR, step: 5 * MINUTE },
  day: { shows: DAY, step: 2 * HOUR },
  week: { shows: 7 * DAY, step: DAY },
};

export interface Scale {
  /** Where the canvas begins and ends, in milliseconds since 1970. */
  from: number;
  to: number;
  width: number;
  x: (at: number) => number;
  at: (x: number) => number;
}

/** The canvas reaches from the first thing to a little after now, and is never narrower than the window. */
export function scaleOf(zoom: Zoom, first: number, now: number, window: number): Scale {
  const { shows } = ZOOMS[zoom];
  const to = now + shows * 0.06;
  const from = Math.min(first - shows * 0.04, to - shows);
  const perMs = window / shows;
  return { from, to, width: (to - from) * perMs, x: (at) => (at - from) * perMs, at: (x) => from + x / perMs };
}

/** The lines in a part of the canvas, at round hours of the reader's own clock. On a narrow window every other one. */
export function lines(zoom: Zoom, from: number, to: number, narrow: boolean): number[] {
  const step = ZOOMS[zoom].step * (narrow ? 3 : 1);
  const shift = new Date(from).getTimezoneOffset() * MINUTE;
  const found: number[] = [];
  for (let at = Math.floor((from - shift) / step) * step + shift; at <= to; at += step) found.push(at);
  return found;
}

export interface Span {
  from: number;
  /** Null: it goes on. */
  to: number | null;
}

/** Puts spans that overlap into rows under each other: each into the first where it has room. */
export function packed<Item extends Span>(items: readonly Item[], now: number): { item: Item; row: number }[] {
  const ends: number[] = [];
  return [...items]
    .sort((a, b) => a.from - b.from)
    .map((item) => {
      const free = ends.findIndex((end) => end <= item.from);
      const row = free === -1 ? ends.length : free;
      ends[row] = item.to ?? now;
      return { item, row };
    });
}

/** Those that are seen. */
export function seen<Item extends Span>(items: readonly Item[], from: number, to: number): Item[] {
  return items.filter((each) => each.from <= to && (each.to === null || each.to >= from));
}

/** What shows everything that there is, if the window can. */
export function zoomFor(first: number, now: number): Zoom {
  const wanted = (Object.keys(ZOOMS) as Zoom[]).find((each) => now - first <= ZOOMS[each].shows);
  return wanted === "minutes" || wanted === "hour" ? wanted : "day";
}
