// Walking through the past: from change to change, and a whole stretch of it in twenty seconds. Pure.

/** How long a stretch is played, whatever has happened in it. */
export const PLAY_MS = 20_000;
const LEAST_TICK_MS = 100;
const MOST_TICK_MS = 1_000;

export interface Pace {
  tickMs: number;
  /** How many changes go by at each tick. */
  step: number;
}

/** A few changes are played slowly, many in steps: no stretch takes longer than twenty seconds. */
export function paceOf(changes: number): Pace {
  const tickMs = Math.min(MOST_TICK_MS, Math.max(LEAST_TICK_MS, Math.floor(PLAY_MS / Math.max(1, changes))));
  return { tickMs, step: Math.max(1, Math.ceil((changes * tickMs) / PLAY_MS)) };
}

/** How many of the stops have been reached at an instant. */
export function reached(stops: readonly number[], at: number): number {
  let [low, high] = [0, stops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stops[middle] ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The instant after `many` changes; before the first one, a moment earlier. */
export function instantAfter(stops: readonly number[], many: number, now: number): number {
  if (stops.length === 0) return now;
  return many <= 0 ? (stops[0] ?? now) - 1 : (stops[Math.min(many, stops.length) - 1] ?? now);
}

export interface Stretch {
  from: number;
  to: number;
}

/** From six in the evening until eight in the morning, on the reader's clock: the night that is over, or is now. */
export function lastNight(now: number): Stretch {
  const evening = new Date(now);
  if (evening.getHours() < 18) evening.setDate(evening.getDate() - 1);
  evening.setHours(18, 0, 0, 0);
  const morning = new Date(evening);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(8, 0, 0, 0);
  return { from: evening.getTime(), to: Math.min(now, morning.getTime()) };
}
