import { describe, expect, it } from "vitest";

import { axisOf, placeOf, ticksOf } from "./axis";
import { criticalPath } from "./critical";
import { overAt, rowsOf, sumOf } from "./rows";
import { at, launch, traced, wait } from "./sample";

const kinds = (task: Parameters<typeof rowsOf>[0], ...unfolded: string[]) =>
  rowsOf(task, new Set(unfolded)).map((each) => [each.depth, each.kind]);

describe("the rows of a story", () => {
  const house = traced({
    task_id: "house",
    completed_at: at(100),
    waits: [wait("not_started", 0, 20), wait("agent", 20, 20.5)],
    launches: [launch("l1", 20, 60), launch("l2", 70, 100)],
    checks: [
      {
        check_id: "chk",
        launch_id: "l1",
        created_at: at(50),
        finished_at: at(55),
        passed: false,
        failures: [{ check: "make", message: "no" }],
        evidence: [],
      },
    ],
    tasks: [traced({ task_id: "roof", created_at: at(30), launches: [launch("l3", 30, 45)], completed_at: at(45) })],
  });

  it("are one while the task is folded, and in the order of time once it is unfolded", () => {
    expect(kinds(house)).toEqual([[0, "task"]]);
    expect(kinds(house, "house")).toEqual([
      [0, "task"],
      [1, "wait"],
      [1, "launch"],
      [1, "task"],
      [1, "check"],
      [1, "launch"],
    ]);
  });

  it("go deeper where a subtask or a launch is unfolded", () => {
    expect(kinds(house, "house", "roof", "l2").slice(3)).toEqual([
      [1, "task"],
      [2, "launch"],
      [1, "check"],
      [1, "launch"],
      [2, "session"],
      [2, "calls"],
    ]);
  });

  it("leave out a wait that nobody noticed", () => {
    expect(rowsOf(house, new Set(["house"])).filter((each) => each.kind === "wait")).toHaveLength(1);
  });

  it("add up to what was waited and worked", () => {
    expect(sumOf(house, 0)).toEqual({ waited: 20_000, worked: 70_000 });
  });

  it("are over when the last of them is, its review among them, and not while one goes on", () => {
    expect(overAt(house)).toBe(100_000);
    expect(overAt({ ...house, waits: [...house.waits, wait("review", 100, 400)] })).toBe(400_000);
    expect(overAt({ ...house, waits: [...house.waits, wait("review", 100, null)] })).toBeNull();
    expect(overAt({ ...house, status: "in_progress" })).toBeNull();
  });
});

describe("the layout of bars", () => {
  const axis = axisOf(0, 100_000);

  it("puts a bar where its time is, in parts of the whole width", () => {
    expect(placeOf(axis, 25_000, 75_000)).toEqual({ left: 25, width: 50 });
  });

  it("cuts what reaches beyond the axis", () => {
    expect(placeOf(axis, -50_000, 50_000)).toEqual({ left: 0, width: 50 });
    expect(placeOf(axis, 50_000, 900_000)).toEqual({ left: 50, width: 50 });
  });

  it("keeps an instant wide enough to be seen, also at the end", () => {
    const { left, width } = placeOf(axis, 100_000, 100_000);
    expect(width).toBeGreaterThan(0);
    expect(left + width).toBe(100);
  });

  it("names instants from the beginning to the end; a story of a moment has an axis too", () => {
    expect(ticksOf(axis, 3)).toEqual([0, 50_000, 100_000]);
    expect(axisOf(5, 5).to).toBeGreaterThan(5);
  });
});

const path = (task: Parameters<typeof criticalPath>[0], now = 1_000_000) =>
  criticalPath(task, now).map((each) => `${each.id} ${each.from / 1000}-${each.to / 1000}`);

describe("the critical path", () => {
  it("is everything, one after the other, where one agent worked alone", () => {
    const task = traced({
      task_id: "t",
      completed_at: at(100),
      waits: [wait("not_started", 0, 20), wait("agent", 60, 70)],
      launches: [launch("l1", 20, 60), launch("l2", 70, 100)],
    });
    expect(path(task)).toEqual([`wait:t:${at(0)} 0-20`, "l1 20-60", `wait:t:${at(60)} 60-70`, "l2 70-100"]);
  });

  it("goes through the subtask that ended last, and leaves out the one that was done earlier", () => {
    const fast = traced({ task_id: "fast", created_at: at(20), completed_at: at(40), launches: [launch("f", 20, 40)] });
    const slow = traced({ task_id: "slow", created_at: at(20), completed_at: at(80), launches: [launch("s", 30, 80)] });
    const task = traced({
      task_id: "t",
      completed_at: at(100),
      waits: [wait("subtasks", 20, 80)],
      launches: [launch("l1", 0, 20), launch("l2", 80, 100)],
      tasks: [fast, slow],
    });
    expect(path(task)).toEqual(["l1 0-20", "s 30-80", `wait:t:${at(20)} 20-80`, "l2 80-100"]);
  });

  it("goes through the sibling that a subtask waited for", () => {
    const first = traced({ task_id: "a", created_at: at(0), completed_at: at(50), launches: [launch("la", 0, 50)] });
    const then = traced({
      task_id: "b",
      created_at: at(0),
      completed_at: at(90),
      waits: [wait("dependencies", 0, 50, { on: ["a"] })],
      launches: [launch("lb", 50, 90)],
    });
    const task = traced({
      task_id: "t",
      status: "in_progress",
      waits: [wait("subtasks", 0, null)],
      tasks: [first, then],
    });
    const found = criticalPath(task, 90_000).map((each) => each.id);
    expect(found).toContain("lb");
    expect(found).toContain("la");
  });

  it("reaches until now while the story goes on, and into a part without launches of its own", () => {
    const part = traced({ task_id: "part", status: "in_progress", created_at: at(10) });
    const task = traced({
      task_id: "t",
      status: "in_progress",
      launches: [launch("l1", 0, 10)],
      waits: [wait("subtasks", 10, null)],
      tasks: [part],
    });
    expect(path(task, 30_000)).toEqual(["l1 0-10", "part 10-30", `wait:t:${at(10)} 10-30`]);
  });

  it("ends where tasks wait for each other in a circle", () => {
    const one = traced({ task_id: "one", status: "blocked", waits: [wait("blocked", 0, null, { on: ["two"] })] });
    const two = traced({ task_id: "two", status: "blocked", waits: [wait("blocked", 0, null, { on: ["one"] })] });
    const task = traced({ task_id: "t", status: "blocked", waits: [wait("subtasks", 0, null)], tasks: [one, two] });
    expect(criticalPath(task, 5_000).length).toBeLessThan(5);
  });
});
