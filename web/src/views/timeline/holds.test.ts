import { describe, expect, it } from "vitest";

import type { Event, Launch, Member } from "@/api/model";

import { holdsAt, holdsOf, holdsUntilNow } from "./holds";

function event(kind: string, task: string | null, data: Record<string, unknown>, second = 0, agent = "ada"): Event {
  return {
    sequence: second,
    event_id: `evt_${second}`,
    at: new Date(second * 1000).toISOString(),
    kind,
    actor_id: "ada",
    by_person: false,
    project_id: "p",
    task_id: task,
    agent_id: agent,
    session_id: null,
    launch_id: null,
    correlation_id: null,
    data,
  };
}

const decided = (second: number, action: string, reason: string, purpose = "task") =>
  event("decision.launch", null, { purpose, action, reason, rule: `rule of ${reason}` }, second);

describe("why nothing ran", () => {
  it("is said from the decision to hold until the next decision", () => {
    const holds = holdsOf([decided(1, "hold", "cooling_down"), decided(9, "start", "has_in_progress_task")]);
    expect(holds.get("ada")).toEqual([{ from: 1000, to: 9000, reason: "cooling_down", rule: "rule of cooling_down" }]);
  });

  it("is not said while it runs, nor for its chats", () => {
    const holds = holdsOf([decided(1, "hold", "already_running"), decided(2, "hold", "no_chat_work", "chat")]);
    expect(holds.get("ada") ?? []).toEqual([]);
  });

  const member = { agent_id: "ada", state: "held", reason: "project_paused", explanation: "Paused." } as Member;
  const over = { agent_id: "ada", ended_at: new Date(5000).toISOString() } as Launch;

  it("goes on while it is still the reason", () => {
    const holds = holdsUntilNow(holdsOf([decided(3, "hold", "project_paused")]), [member], [over]);
    expect(holds.get("ada")).toEqual([{ from: 3000, to: null, reason: "project_paused", rule: "Paused." }]);
  });

  it("gives way to what is said now, from the end of the last launch on", () => {
    const holds = holdsUntilNow(holdsOf([decided(3, "hold", "cooling_down")]), [member], [over]);
    expect(holds.get("ada")).toEqual([{ from: 5000, to: null, reason: "project_paused", rule: "Paused." }]);
  });

  it("says nothing about an agent that works", () => {
    const working = { ...member, state: "working" } as Member;
    expect(holdsUntilNow(holdsOf([decided(3, "hold", "cooling_down")]), [working], []).get("ada")).toEqual([]);
  });

  it("was not over yet while one looks at an instant within it", () => {
    const holds = holdsOf([decided(1, "hold", "cooling_down"), decided(9, "start", "has_in_progress_task")]);
    expect(holdsAt(holds, 5000).get("ada")).toEqual([
      { from: 1000, to: null, reason: "cooling_down", rule: "rule of cooling_down" },
    ]);
    expect(holdsAt(holds, 500).get("ada")).toEqual([]);
  });
});
