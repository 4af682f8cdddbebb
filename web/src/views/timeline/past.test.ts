import { describe, expect, it } from "vitest";

import type { Event, Launch, Member } from "@/api/model";

import { boardAfter, holdsOf, holdsUntilNow, turningPoints } from "./past";

const NO_TITLES = new Map<string, string>();

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

const STORY = [
  event("task.created", "a", { title: "Saw", status: "todo" }),
  event("task.created", "b", { title: "Sand", status: "backlog" }),
  event("task.started", "a", { from: "todo", to: "in_progress" }),
  event("task.completed", "a", { from: "in_progress", to: "completed" }),
];
const statuses = (many: number, events = STORY) =>
  boardAfter(events, many, NO_TITLES).map((each) => [each.task_id, each.status]);

describe("the board as it was", () => {
  it("is empty before anything happened", () => {
    expect(statuses(0)).toEqual([]);
  });

  it("follows every change up to the chosen one, and none after it", () => {
    expect(statuses(2)).toEqual([
      ["a", "todo"],
      ["b", "backlog"],
    ]);
    expect(statuses(3)[0]).toEqual(["a", "in_progress"]);
    expect(statuses(4)[0]).toEqual(["a", "completed"]);
  });

  it("knows a task whose beginning is no longer in the log, as it was left", () => {
    const cut = [event("task.unblocked", "old", { from: "blocked", to: "todo" })];
    expect(statuses(0, cut)).toEqual([["old", "blocked"]]);
    expect(statuses(1, cut)).toEqual([["old", "todo"]]);
  });

  it("takes no agent for a status, whatever the agent is called", () => {
    const events = [...STORY, event("task.assigned", "a", { from: "todo", to: "failed" })];
    expect(statuses(5, events)[0]).toEqual(["a", "completed"]);
  });

  it("calls tasks as they are called now", () => {
    expect(boardAfter(STORY, 1, new Map([["a", "Saw it all"]]))[0]?.title).toBe("Saw it all");
  });

  it("stops the slider only where the board changes", () => {
    const events = [...STORY, event("task.fetched", "a", {}), event("task.assigned", "a", { to: "ada" })];
    expect(turningPoints(events)).toEqual(STORY);
  });
});

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
});
