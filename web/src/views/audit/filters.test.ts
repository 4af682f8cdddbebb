import { describe, expect, it } from "vitest";

import type { Event } from "@/api/model";
import { belongs } from "@/views/audit/audit";
import { EVERYTHING, parsed, wantedOf, written } from "@/views/audit/filters";

const event = { kind: "task.failed", at: "2026-03-02T12:00:00Z", project_id: "prj", agent_id: "w1" } as Event;

describe("what of the log is wanted", () => {
  it("is a day from its first to its last instant, where the reader is", () => {
    const wanted = wantedOf({ ...EVERYTHING, since: "2026-03-02", until: "2026-03-02" }, "prj");
    expect(Date.parse(wanted.until ?? "") - Date.parse(wanted.since ?? "")).toBe(86_400_000);
    expect(new Date(wanted.since ?? "").getHours()).toBe(0);
  });

  it("stands in the address, and is read from there", () => {
    const filter = { ...EVERYTHING, kind: "task", actor: "ada", since: "2026-03-02", trace: "req_1" };
    expect(written(filter)).toBe("actor:ada kind:task since:2026-03-02 req_1");
    expect(parsed(written(filter) ?? "")).toEqual(filter);
    expect(written(EVERYTHING)).toBeUndefined();
    expect(parsed("kind:")).toEqual(EVERYTHING);
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
