// One time axis for all rows: where a bar begins, how wide it is, and which instants are named. Pure.
export interface Axis {
  from: number;
  to: number;
}

/** As parts of the whole width, in per cent. */
export interface Place {
  left: number;
  width: number;
}

/** So wide that one sees it. */
const LEAST = 0.6;

export function axisOf(from: number, to: number): Axis {
  return { from, to: Math.max(to, from + 1000) };
}

/** What begins before the axis or ends behind it is cut; what lasts for a moment only is still seen. */
export function placeOf(axis: Axis, from: number, to: number): Place {
  const share = (at: number) => (Math.min(axis.to, Math.max(axis.from, at)) - axis.from) / (axis.to - axis.from);
  const left = share(from) * 100;
  const width = Math.max(LEAST, share(to) * 100 - left);
  return { left: Math.min(left, 100 - width), width };
}

/** Instants to name, from the beginning to the end. */
export function ticksOf(axis: Axis, many: number): number[] {
  const step = (axis.to - axis.from) / (many - 1);
  return Array.from({ length: many }, (_, place) => Math.round(axis.from + place * step));
}

/** The time alone; with the day where the story is longer than one. */
export function tickWords(at: number, axis: Axis, language: string): string {
  const long = axis.to - axis.from > 86_400_000;
  const day = long ? ({ month: "numeric", day: "numeric" } as const) : {};
  const seconds = axis.to - axis.from < 600_000 ? ({ second: "2-digit" } as const) : {};
  const format = { ...day, hour: "2-digit", minute: "2-digit", ...seconds, hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat(language, format).format(at);
}
