import { describe, expect, it } from "vitest";

import type { Agent, Launch } from "@/api/model";

import { lanesOf, outcomeOf } from "./lanes";
import { ZOOMS, lines, packed, scaleOf, seen, zoomFor } from "./scale";

const HOUR = ZOOMS.hour.shows;

describe("time as pixels", () => {
  const scale = scaleOf("hour", 0, 10 * HOUR, 1000);

  it("shows one hour in the width of the window", () => {
    expect(scale.x(5 * HOUR) - scale.x(4 * HOUR)).toBeCloseTo(1000);
  });

  it("goes there and back", () => {
    expect(scale.at(scale.x(3 * HOUR))).toBeCloseTo(3 * HOUR);
  });

  it("has the beginning and now on the canvas, and fills the window when little has happened", () => {
    expect(scale.x(0)).toBeGreaterThan(0);
    expect(scale.x(10 * HOUR)).toBeLessThan(scale.width);
    expect(scaleOf("hour", 0, 1000, 1000).width).toBeCloseTo(1000);
  });

  it("has its lines at round instants, fewer on a narrow window", () => {
    const wide = lines("hour", 10 * HOUR, 11 * HOUR, false);
    expect(wide.every((each) => each % ZOOMS.hour.step === 0)).toBe(true);
    expect(lines("hour", 10 * HOUR, 11 * HOUR, true).length).toBeLessThan(wide.length / 2);
  });

  it("opens on what there is", () => {
    expect([zoomFor(0, 60_000), zoomFor(0, HOUR / 2), zoomFor(0, 40 * HOUR)]).toEqual(["minutes", "hour", "day"]);
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
  it("tell how a launch went", () => {
    expect(outcomeOf(launch(false))).toBe("running");
    expect(outcomeOf(launch(true))).toBe("ended");
    expect(outcomeOf(launch(true, { exit_code: 3 }))).toBe("failed");
    expect(outcomeOf(launch(true, { state: "lost" }))).toBe("failed");
  });

  it("put who did something first, each with its tokens", () => {
    const agents = [{ agent_id: "bob", name: "Bob" } as Agent, { agent_id: "ada", name: "Ada" } as Agent];
    const used = [{ launch_id: "l", input_tokens: 30, output_tokens: 12 } as never];
    const lanes = lanesOf(agents, [launch(true)], [], used, 9000);
    expect(lanes.map((each) => each.name)).toEqual(["Ada", "Bob"]);
    expect(lanes[0]?.bars[0]?.bar).toMatchObject({ kind: "launch", tokens: 42, from: 0, to: 5000 });
  });
});
