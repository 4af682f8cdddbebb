// Time as pixels: how much the window shows, where the lines stand, and which bars go under which. Pure.

/** How much time fills the window: all there is, one of the usual spans, or that many seconds (`90s`). */
export type Zoom = "fit" | Usual | `${number}s`;
type Usual = "minutes" | "hour" | "day" | "week";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const ZOOMS: Record<Usual, number> = { minutes: 10 * MINUTE, hour: HOUR, day: DAY, week: 7 * DAY };
const LEAST_MS = 10 * SECOND;
/** What is over at once is no reason to show nothing but that. */
const LEAST_FIT_MS = MINUTE;

/** As it stands in the address. */
export function zoomOf(said: string | undefined): Zoom {
  if (said !== undefined && (said in ZOOMS || /^[1-9]\d{0,9}s$/.test(said))) return said as Zoom;
  return "fit";
}

/** In milliseconds; all there is lies between these two instants. */
export function spanOf(zoom: Zoom, begins: number, ends: number): number {
  if (zoom === "fit") return Math.max(LEAST_FIT_MS, (ends - begins) * 1.12);
  return zoom in ZOOMS ? ZOOMS[zoom as Usual] : Math.max(LEAST_MS, Number.parseInt(zoom) * SECOND);
}

/** Nearer or farther by that many pixels of a wheel; never farther than everything, nor than a usual span. */
export function wheeled(shows: number, pixels: number, first: number, now: number): Zoom {
  const most = Math.max(spanOf("fit", first, now), ZOOMS.minutes);
  const next = Math.min(most, Math.max(LEAST_MS, shows * Math.exp(pixels / 400)));
  return `${Math.round(next / SECOND)}s`;
}

const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 7, 14, 28, 91, 365].map((each) => each * DAY),
];
const LINES = 12;

/** How far the lines stand apart: at most a dozen in the window. */
export function stepFor(shows: number): number {
  return STEPS.find((each) => shows / each <= LINES) ?? 3650 * DAY;
}

export interface Scale {
  /** Where the canvas begins and ends, in milliseconds since 1970. */
  from: number;
  to: number;
  width: number;
  x: (at: number) => number;
  at: (x: number) => number;
}

/** How much of the window lies behind now. */
export const AFTER = 0.06;

/** The canvas reaches from the first thing to a little after now, and is never narrower than the window. */
export function scaleOf(shows: number, first: number, now: number, window: number): Scale {
  const to = now + shows * AFTER;
  const from = Math.min(first - shows * 0.04, to - shows);
  const perMs = window / shows;
  return { from, to, width: (to - from) * perMs, x: (at) => (at - from) * perMs, at: (x) => from + x / perMs };
}

/** The lines in a part of the canvas, at round hours of the reader's own clock. On a narrow window every other one. */
export function lines(shows: number, from: number, to: number, narrow: boolean): number[] {
  const step = stepFor(shows) * (narrow ? 3 : 1);
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
