import { describe, expect, it } from "vitest";

import type { Event } from "@/api/model";
import { card } from "@/testkit";

import { boardAt, changesOf, stopsOf } from "./board-at";

const time = (second: number) => new Date(second * 1000).toISOString();

function event(second: number, kind: string, task: string, data: Record<string, unknown>): Event {
  return { kind, task_id: task, data, at: time(second), sequence: second, actor_id: "ada", agent_id: "ada" } as Event;
}

const STORY = [
  event(1, "task.created", "a", { title: "Saw", status: "todo" }),
  event(2, "task.created", "b", { title: "Sand", status: "backlog" }),
  event(3, "task.started", "a", { from: "todo", to: "in_progress" }),
  event(4, "task.assigned", "a", { from: "bob", to: "ada" }),
  event(5, "task.dependencies_changed", "b", { added: ["a"], removed: ["x"] }),
  event(6, "task.blocked", "a", { from: "in_progress", to: "blocked", reason: "No key." }),
  event(7, "task.unblocked", "a", { from: "blocked", to: "in_progress" }),
  event(8, "task.completed", "a", { from: "in_progress", to: "completed" }),
];
const CARDS = [
  card({
    ...{ task_id: "a", title: "Saw it all", status: "completed", assignee_id: "ada", parent_task_id: "b" },
    ...{ created_at: time(1), started_at: time(3), completed_at: time(8), checks: "passed" },
  }),
  card({ task_id: "b", title: "Sand", status: "backlog", dependencies: ["a"], created_at: time(2) }),
];
const then = (second: number, events = STORY, cards = CARDS) => boardAt(cards, changesOf(events), second * 1000);
const statuses = (second: number, events = STORY) => then(second, events).map((each) => [each.task_id, each.status]);

describe("the board as it was", () => {
  it("is empty before anything happened", () => {
    expect(statuses(0)).toEqual([]);
  });

  it("follows every change up to the instant, and none after it", () => {
    expect(statuses(2)).toEqual([
      ["a", "todo"],
      ["b", "backlog"],
    ]);
    expect(statuses(3)[0]).toEqual(["a", "in_progress"]);
    expect(statuses(8)[0]).toEqual(["a", "completed"]);
  });

  it("says who had a task, what it waited for, why it was blocked and how far its parts were", () => {
    expect(then(3)[0]?.assignee_id).toBe("bob");
    expect(then(4)[0]?.assignee_id).toBe("ada");
    expect(then(4)[1]?.dependencies).toEqual(["x"]);
    expect(then(5)[1]?.dependencies).toEqual(["a"]);
    expect(then(6)[0]).toMatchObject({ status: "blocked", blocked_reason: "No key.", completed_at: null });
    expect(then(7)[0]?.blocked_reason).toBeNull();
    expect([then(7)[1]?.children_done, then(8)[1]?.children_done]).toEqual([0, 1]);
  });

  it("says nothing that was not so yet: no start, no end, no checks, nobody at work", () => {
    expect(then(2)[0]).toMatchObject({ started_at: null, completed_at: null, checks: "none", running: false });
    expect(then(8)[0]).toMatchObject({ started_at: time(3), completed_at: time(8) });
  });

  it("knows a task whose beginning is no longer in the log, as it was left", () => {
    const cut = [event(7, "task.unblocked", "a", { from: "blocked", to: "in_progress" })];
    expect(statuses(6, cut)[0]).toEqual(["a", "blocked"]);
    expect(statuses(7, cut)[0]).toEqual(["a", "in_progress"]);
  });

  it("takes no agent for a status, whatever the agent is called", () => {
    const events = [...STORY, event(9, "task.assigned", "a", { from: "todo", to: "failed" })];
    expect(statuses(9, events)[0]).toEqual(["a", "completed"]);
  });

  it("knows tasks that the board of now does not hold by their events", () => {
    const old = [event(1, "task.created", "old", { title: "Dig", status: "todo" })];
    expect(then(5, [...old, ...STORY]).find((each) => each.task_id === "old")).toMatchObject({ title: "Dig" });
  });

  it("stops only where the board changes, once at each instant", () => {
    const events = [...STORY, event(9, "task.fetched", "a", {}), { ...STORY[7], sequence: 10 } as Event];
    expect(stopsOf(changesOf(events))).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((each) => each * 1000));
  });
});
