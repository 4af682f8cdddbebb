import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { timeOfDay } from "@/ui";

const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 30).toISOString();

describe("a time of day", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date(2026, 10, 28, 23, 0), toFake: ["Date"] });
  });
  afterEach(() => vi.useRealTimers());

  it("has no date today", () => {
    expect(timeOfDay(at(28, 1), "en-GB")).toBe("01:30");
    expect(timeOfDay(at(28, 23), "ja")).toBe("23:30");
  });

  it("has its date on every other day, however near", () => {
    expect(timeOfDay(at(29, 1), "en-GB")).toContain("29 Nov");
    expect(timeOfDay(at(27, 23), "ja")).toContain("11月27日");
  });
});
