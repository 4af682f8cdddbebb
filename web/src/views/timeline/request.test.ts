import { describe, expect, it } from "vitest";

import { endOf } from "@/views/timeline/request";

const NOW = Date.parse("2026-01-01T10:00:00Z");
const at = (time: string) => `2026-01-01T${time}:00Z`;

describe("the work on a task in a trace", () => {
  it("goes on while the task is in progress", () => {
    expect(endOf({ status: "in_progress", completed_at: null, moved_at: at("09:00") }, NOW)).toBe(NOW);
  });

  it.each(["blocked", "todo"] as const)("is over since the task is %s", (status) => {
    const moved = at("09:04");
    expect(endOf({ status, completed_at: null, moved_at: moved }, NOW)).toBe(Date.parse(moved));
  });

  it("ended when the task did", () => {
    const ended = { status: "completed", completed_at: at("09:30"), moved_at: at("09:30") } as const;
    expect(endOf(ended, NOW)).toBe(Date.parse(at("09:30")));
  });
});
