import { describe, expect, it } from "vitest";

import { card } from "@/testkit";
import { columns, lanes, neighbour } from "@/views/board/lanes";

const ids = (cards: { task_id: string }[]) => cards.map((each) => each.task_id);

describe("a column", () => {
  it("has the most urgent open cards first, of the same urgency the oldest", () => {
    const { todo } = columns([
      card({ task_id: "young", created_at: "2026-02-01T00:00:00Z" }),
      card({ task_id: "old", created_at: "2026-01-01T00:00:00Z" }),
      card({ task_id: "urgent", priority: "critical", created_at: "2026-03-01T00:00:00Z" }),
    ]);
    expect(ids(todo)).toEqual(["urgent", "old", "young"]);
  });

  it("has what was closed last first", () => {
    const { completed } = columns([
      card({ task_id: "first", status: "completed", completed_at: "2026-01-01T00:00:00Z", priority: "critical" }),
      card({ task_id: "last", status: "completed", completed_at: "2026-01-02T00:00:00Z" }),
    ]);
    expect(ids(completed)).toEqual(["last", "first"]);
  });
});

describe("lanes", () => {
  const tasks = [
    card({ task_id: "1", assignee_id: "ren", parent_task_id: "p" }),
    card({ task_id: "2", assignee_id: null }),
    card({ task_id: "3", assignee_id: "ada", status: "blocked" }),
    card({ task_id: "4", assignee_id: "ren" }),
  ];

  it("are one for each agent in the order of the team, nobody's last, and lose no card", () => {
    const found = lanes(tasks, "agent", ["ada", "ren"]);
    expect(found.map((each) => [each.id, each.count])).toEqual([
      ["ada", 1],
      ["ren", 2],
      [null, 1],
    ]);
  });

  it("are one for each parent", () => {
    expect(lanes(tasks, "parent").map((each) => each.id)).toEqual(["p", null]);
  });

  it("are a single one without grouping", () => {
    expect(lanes(tasks, "none").map((each) => each.count)).toEqual([4]);
  });
});

describe("a step by keyboard", () => {
  const all = lanes(
    [
      card({ task_id: "a1", created_at: "2026-01-01T00:00:00Z" }),
      card({ task_id: "a2", created_at: "2026-01-02T00:00:00Z" }),
      card({ task_id: "b1", status: "completed" }),
    ],
    "none",
  );

  it("begins on the first card", () => expect(neighbour(all, null, "down")).toBe("a1"));
  it("goes down its column and stops at its end", () => {
    expect(neighbour(all, "a1", "down")).toBe("a2");
    expect(neighbour(all, "a2", "down")).toBe("a2");
    expect(neighbour(all, "a2", "up")).toBe("a1");
  });
  it("goes sideways over empty columns, to the card at the same height", () => {
    expect(neighbour(all, "a1", "right")).toBe("b1");
    expect(neighbour(all, "b1", "left")).toBe("a1");
    expect(neighbour(all, "b1", "right")).toBe("b1");
  });
});
