import { describe, expect, it } from "vitest";

import type { Sums } from "@/api/model";
import { money } from "@/ui";
import { costWords, everyDay } from "@/views/usage/amounts";

const sums = { cost_usd: 1.5, without_price: 0 } as Sums;

describe("amounts", () => {
  it("of money are told to the cent, less than ten cents to the hundredth of one", () => {
    expect([money(12.345), money(0.0123), money(0), money(1234.5)]).toEqual([
      "$12.35",
      "$0.0123",
      "$0.00",
      "$1,234.50",
    ]);
  });

  it("say where something has no price: more than this, or nobody knows", () => {
    expect(costWords(sums)).toBe("$1.50");
    expect(costWords({ ...sums, without_price: 2 })).toBe("$1.50+");
    expect(costWords({ ...sums, cost_usd: null })).toBeNull();
  });

  it("have a bar for each day, also for those on which nothing was used", () => {
    const days = everyDay([{ ...sums, day: "2026-03-01" }], "2026-02-27", "2026-03-01");
    expect(days.map((each) => [each.day, each.row !== null])).toEqual([
      ["2026-02-27", false],
      ["2026-02-28", false],
      ["2026-03-01", true],
    ]);
  });
});
