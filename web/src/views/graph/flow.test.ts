import { describe, expect, it } from "vitest";

import { Refused } from "@/api/client";
import type { BoardTask } from "@/api/model";

import { chosen, criticalPath, heldUp, layoutInput, linksOf } from "./flow";
import { circleOf } from "./linking";

function task(id: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    task_id: id,
    title: id,
    status: "todo",
    dependencies: [],
    parent_task_id: null,
    root_task_id: "root",
    ...more,
  } as BoardTask;
}

const after = (id: string, ...dependencies: string[]) => task(id, { dependencies });
const path = (tasks: BoardTask[]) => criticalPath(tasks, linksOf(tasks));

describe("links", () => {
  it("run from what comes first to what waits: dependencies, and subtasks to their parent", () => {
    const links = linksOf([task("root"), task("a", { parent_task_id: "root" }), after("b", "a")]);
    expect(links.map((each) => [each.kind, each.from, each.to])).toEqual([
      ["subtask", "a", "root"],
      ["dependency", "a", "b"],
    ]);
  });

  it("leave out a subtask that a sibling waits for: the sibling's way to the parent says it", () => {
    const links = linksOf([
      task("root"),
      task("a", { parent_task_id: "root" }),
      task("b", { parent_task_id: "root", dependencies: ["a"] }),
    ]);
    expect(links.map((each) => each.id)).toEqual(["dependency:a:b", "subtask:b:root"]);
  });

  it("lead nowhere that is not shown", () => {
    expect(linksOf([after("b", "elsewhere")])).toEqual([]);
  });
});

describe("the critical path", () => {
  it("is the longest chain of open tasks", () => {
    expect(path([task("a"), after("b", "a"), after("c", "b"), task("x"), after("d", "x", "c")])).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
  });

  it("leaves out what is over", () => {
    expect(path([task("a", { status: "completed" }), after("b", "a"), after("c", "b")])).toEqual(["b", "c"]);
  });

  it("is empty where nothing waits for anything", () => {
    expect(path([task("a"), task("b")])).toEqual([]);
  });

  it("does not hang on a circle", () => {
    expect(path([after("a", "b"), after("b", "a")]).length).toBeGreaterThan(0);
  });

  it("of five thousand tasks is found at once", () => {
    const chain = Array.from({ length: 5000 }, (_, n) => (n === 0 ? task("0") : after(String(n), String(n - 1))));
    expect(path(chain)).toHaveLength(5000);
  });
});

describe("what is held up", () => {
  const held = (tasks: BoardTask[]) => [...heldUp(tasks, linksOf(tasks))].sort();

  it("is everything open behind a blocked task, however far", () => {
    expect(held([task("a", { status: "blocked" }), after("b", "a"), after("c", "b"), task("free")])).toEqual([
      "b",
      "c",
    ]);
  });

  it("is what depends on a cancelled task, but not the parent of one", () => {
    const cancelled = task("a", { status: "cancelled", parent_task_id: "root" });
    expect(held([task("root"), cancelled, after("b", "a")])).toEqual(["b"]);
  });
});

describe("what is shown", () => {
  const tasks = [task("a"), task("b", { status: "completed" }), task("c", { root_task_id: "other" })];

  it("is one tree, or only what is not over", () => {
    expect(chosen(tasks, "other", false).map((each) => each.task_id)).toEqual(["c"]);
    expect(chosen(tasks, undefined, true).map((each) => each.task_id)).toEqual(["a", "c"]);
  });

  it("is laid out anew only when links or tasks change, not when a task moves on", () => {
    const before = [task("a"), after("b", "a")];
    const moved = [task("a", { status: "completed" }), after("b", "a")];
    const linked = [task("a"), task("b")];
    const asked = (all: BoardTask[]) => JSON.stringify(layoutInput(all, linksOf(all)));
    expect(asked(moved)).toBe(asked(before));
    expect(asked(linked)).not.toBe(asked(before));
  });
});

describe("a refused link", () => {
  const refused = (more: object) =>
    new Refused({ status: 409, code: "", title: "", detail: "", instruction: "", ...more });

  it("names its circle", () => {
    expect(circleOf(refused({ cycle: ["a", "b", "a"] }))).toEqual(["a", "b", "a"]);
  });

  it("for another reason names none", () => {
    expect(circleOf(refused({}))).toBeNull();
    expect(circleOf(new Error("away"))).toBeNull();
  });
});
