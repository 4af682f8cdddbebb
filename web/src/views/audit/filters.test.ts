import { describe, expect, it } from "vitest";

import type { Event } from "@/api/model";
import { belongs } from "@/views/audit/audit";
import { EVERYTHING, wantedOf } from "@/views/audit/filters";

const event = { kind: "task.failed", at: "2026-03-02T12:00:00Z", project_id: "prj", agent_id: "w1" } as Event;

describe("what of the log is wanted", () => {
  it("is a day from its first to its last instant, where the reader is", () => {
    const wanted = wantedOf({ ...EVERYTHING, since: "2026-03-02", until: "2026-03-02" }, "prj");
    expect(Date.parse(wanted.until ?? "") - Date.parse(wanted.since ?? "")).toBe(86_400_000);
    expect(new Date(wanted.since ?? "").getHours()).toBe(0);
  });

  it("lets in what happens now only if it is of it", () => {
    const asked = (kind: string, agent = "") => wantedOf({ ...EVERYTHING, kind, agent }, "prj");
    expect(belongs(event, asked("task"))).toBe(true);
    expect(belongs(event, asked("task", "w2"))).toBe(false);
    expect(belongs(event, asked("agent"))).toBe(false);
    expect(belongs({ ...event, project_id: "other" }, asked(""))).toBe(false);
    expect(belongs(event, { until: "2026-03-02T12:00:00Z" })).toBe(false);
  });
});
