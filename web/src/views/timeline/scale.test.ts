import { describe, expect, it } from "vitest";

import type { Agent, BoardTask, Launch } from "@/api/model";

import { extentOf, lanesOf, launchesOf, resultOf } from "./lanes";
import { ZOOMS, lines, packed, scaleOf, seen, spanOf, stepFor, wheeled, zoomOf } from "./scale";

const HOUR = ZOOMS.hour;

describe("time as pixels", () => {
  const scale = scaleOf(HOUR, 0, 10 * HOUR, 1000);

  it("shows one hour in the width of the window", () => {
    expect(scale.x(5 * HOUR) - scale.x(4 * HOUR)).toBeCloseTo(1000);
  });

  it("goes there and back", () => {
    expect(scale.at(scale.x(3 * HOUR))).toBeCloseTo(3 * HOUR);
  });

  it("has the beginning and now on the canvas, and fills the window when little has happened", () => {
    expect(scale.x(0)).toBeGreaterThan(0);
    expect(scale.x(10 * HOUR)).toBeLessThan(scale.width);
    expect(scaleOf(HOUR, 0, 1000, 1000).width).toBeCloseTo(1000);
  });

  it("has its lines at round instants, fewer on a narrow window", () => {
    const wide = lines(HOUR, 10 * HOUR, 11 * HOUR, false);
    expect(wide.every((each) => each % stepFor(HOUR) === 0)).toBe(true);
    expect(lines(HOUR, 10 * HOUR, 11 * HOUR, true).length).toBeLessThan(wide.length / 2);
  });

  it("opens on what there is, whatever the address says that is no zoom", () => {
    expect([zoomOf(undefined), zoomOf("nonsense"), zoomOf("day"), zoomOf("90s")]).toEqual(["fit", "fit", "day", "90s"]);
    expect(spanOf("fit", 0, HOUR)).toBeGreaterThan(HOUR);
    expect(spanOf("fit", 0, HOUR)).toBeLessThan(1.2 * HOUR);
    expect(spanOf("fit", 0, 10)).toBe(60_000);
  });

  it("is zoomed by the wheel, no farther than everything and no nearer than some seconds", () => {
    const span = (pixels: number) => spanOf(wheeled(HOUR, pixels, 0, 2 * HOUR), 0, 2 * HOUR);
    expect(span(-100)).toBeLessThan(HOUR);
    expect(span(100)).toBeGreaterThan(HOUR);
    expect(span(100_000)).toBeLessThan(2.3 * HOUR);
    expect(span(-100_000)).toBe(10_000);
  });

  it("has at most a dozen lines, whatever is shown", () => {
    for (const shows of [10_000, 60_000, HOUR, 26 * HOUR, 9000 * HOUR])
      expect(lines(shows, 0, shows, false).length).toBeLessThanOrEqual(14);
  });
});

describe("bars", () => {
  it("that overlap stand under each other, and a row is used again when it is free", () => {
    const spans = [
      { from: 0, to: 10 },
      { from: 5, to: null },
      { from: 10, to: 12 },
    ];
    expect(packed(spans, 20).map((each) => each.row)).toEqual([0, 1, 0]);
  });

  it("are drawn only where they are seen, those that go on too", () => {
    const spans = [
      { from: 0, to: 10 },
      { from: 5, to: null },
      { from: 90, to: 95 },
    ];
    expect(seen(spans, 20, 50)).toEqual([{ from: 5, to: null }]);
  });
});

const launch = (ended: boolean, more: Partial<Launch> = {}) =>
  ({
    launch_id: "l",
    agent_id: "ada",
    ordered_at: new Date(0).toISOString(),
    ended_at: ended ? new Date(5000).toISOString() : null,
    state: ended ? "exited" : "signed_in",
    exit_code: ended ? 0 : null,
    exit_signal: null,
    exit_error: null,
    ...more,
  }) as Launch;

describe("lanes", () => {
  const task = (status: BoardTask["status"]) =>
    ({ task_id: "t", title: "Saw", status, assignee_id: null }) as BoardTask;
  const of = (more: Partial<Launch>, status?: BoardTask["status"]) =>
    resultOf(launch(true, { purpose: "task", task_id: "t", ...more }), status && task(status));

  it("tell what became of the task of a launch that ended by itself", () => {
    expect(resultOf(launch(false), task("in_progress"))).toBe("running");
    expect(of({}, "completed")).toBe("completed");
    expect(of({}, "failed")).toBe("failed");
    expect(of({}, "blocked")).toBe("blocked");
    expect(of({}, "in_progress")).toBe("ended");
    expect(of({})).toBe("ended");
    expect(of({ purpose: "chat" }, "failed")).toBe("ended");
  });

  it("call no launch failed that was ended: by a person, or with its Coordinator", () => {
    expect(of({ end_reason: "ended_by_person", exit_error: "stopped" }, "failed")).toBe("stopped");
    expect(of({ exit_error: "stopped", exit_signal: 15 }, "blocked")).toBe("stopped");
    expect(of({ state: "lost", exit_error: "coordinator_stopped" }, "in_progress")).toBe("restarted");
    expect(of({ exit_error: "crashed: no memory" }, "completed")).toBe("failed");
    expect(of({ state: "lost" }, "completed")).toBe("failed");
  });

  it("give the result of a task to its last launch only", () => {
    const two = ["first", "last"].map((launch_id, at) =>
      launch(true, { launch_id, purpose: "task", task_id: "t", ordered_at: new Date(at * 6000).toISOString() }),
    );
    const [lane] = lanesOf([{ agent_id: "ada", name: "Ada" } as Agent], two, [task("failed")], [], 9000);
    expect(lane?.bars.map(({ bar }) => bar.kind === "launch" && [bar.id, bar.result, bar.task?.title])).toEqual([
      ["first", "ended", "Saw"],
      ["last", "failed", "Saw"],
    ]);
  });

  it("show with a filter only launches for tasks that match", () => {
    const all = [launch(true, { task_id: "t" }), launch(true, { task_id: null }), launch(true, { task_id: "u" })];
    expect(launchesOf(all, new Set(["t"])).map((each) => each.task_id)).toEqual(["t"]);
  });

  it("reach from the first bar to the last, and to now if that was lately", () => {
    const lanes = lanesOf([{ agent_id: "ada", name: "Ada" } as Agent], [launch(true)], [], [], 9000);
    expect(extentOf(lanes, 6000)).toEqual({ begins: 0, ends: 6000 });
    expect(extentOf(lanes, 900_000)).toEqual({ begins: 0, ends: 5000 });
    expect(extentOf([], 7000)).toEqual({ begins: 7000, ends: 7000 });
  });

  it("put who did something first, each with its tokens", () => {
    const agents = [{ agent_id: "bob", name: "Bob" } as Agent, { agent_id: "ada", name: "Ada" } as Agent];
    const used = [{ launch_id: "l", input_tokens: 30, output_tokens: 12 } as never];
    const lanes = lanesOf(agents, [launch(true)], [], used, 9000);
    expect(lanes.map((each) => each.name)).toEqual(["Ada", "Bob"]);
    expect(lanes[0]?.bars[0]?.bar).toMatchObject({ kind: "launch", tokens: 42, from: 0, to: 5000 });
  });
});
