import { describe, expect, it } from "vitest";

import { PLAY_MS, instantAfter, lastNight, paceOf, reached } from "./playing";

describe("playing the past", () => {
  it.each([1, 7, 60, 199, 6_893, 30_000])("takes at most twenty seconds for %i changes", (changes) => {
    const { tickMs, step } = paceOf(changes);
    expect(Math.ceil(changes / step) * tickMs).toBeLessThanOrEqual(PLAY_MS + tickMs);
  });

  it("leaves time to read where little has happened", () => {
    expect(paceOf(3)).toEqual({ tickMs: 1000, step: 1 });
  });

  const STOPS = [1000, 2000, 4000];

  it("knows how many changes an instant has seen, and which instant shows so many", () => {
    expect([999, 1000, 3999, 9000].map((at) => reached(STOPS, at))).toEqual([0, 1, 2, 3]);
    expect([0, 1, 3].map((many) => instantAfter(STOPS, many, 9000))).toEqual([999, 1000, 4000]);
    expect(instantAfter([], 1, 9000)).toBe(9000);
  });

  it("takes for last night the one that is over, or the one that is now", () => {
    const hours = ({ from, to }: { from: number; to: number }) => [new Date(from).getHours(), new Date(to).getHours()];
    const morning = new Date(2026, 4, 5, 9, 30).getTime();
    expect(hours(lastNight(morning))).toEqual([18, 8]);
    expect(new Date(lastNight(morning).from).getDate()).toBe(4);
    const night = new Date(2026, 4, 5, 23, 0).getTime();
    expect(lastNight(night)).toEqual({ from: new Date(2026, 4, 5, 18).getTime(), to: night });
  });
});
