import { describe, expect, it } from "vitest";

import { byOf, sortOf } from "./filter";
import { belowTheirs } from "./rows";
import { turned } from "./use-list";

describe("the order", () => {
  it("turns upwards, downwards, and back to the server's", () => {
    const up = turned([], "title");
    const down = turned(up, "title");
    expect([byOf(up), byOf(down), byOf(turned(down, "title"))]).toEqual(["title", "-title", undefined]);
  });

  it("is read back from the address", () => {
    expect(sortOf("-updated")).toEqual([{ id: "updated", desc: true }]);
    expect(sortOf(undefined)).toEqual([]);
  });
});

describe("a part of a task", () => {
  const task = (task_id: string, parent_task_id: string | null = null) => ({ task_id, parent_task_id });

  it("is marked as one only where it stands below what it is a part of", () => {
    const ordered = [task("wall"), task("bricks", "wall"), task("mortar", "wall"), task("roof"), task("paint", "wall")];
    expect([...belowTheirs(ordered)]).toEqual(["bricks", "mortar"]);
    expect([...belowTheirs([task("bricks", "wall"), task("wall")])]).toEqual([]);
  });
});
