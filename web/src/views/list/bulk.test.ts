import { describe, expect, it } from "vitest";

import type { BoardTask } from "@/api/model";

import { onEach } from "./bulk";
import { byOf, sortOf } from "./filter";
import { turned, withRange } from "./use-list";

const TASKS = Array.from({ length: 40 }, (_, n) => ({ task_id: String(n) }) as BoardTask);

describe("one act on many", () => {
  it("does the rest when some are refused, and keeps each refusal with its task", async () => {
    const no = new Error("No.");
    const { done, refused } = await onEach(TASKS, (task) =>
      Number(task.task_id) % 10 === 3 ? Promise.reject(no) : Promise.resolve(),
    );
    expect(done).toHaveLength(36);
    expect(refused.map((each) => [each.task.task_id, each.error]).sort()).toEqual(
      ["13", "23", "3", "33"].map((each) => [each, no]),
    );
  });

  it("asks for each exactly once, and never for more than five at a time", async () => {
    const asked: string[] = [];
    let running = 0;
    let most = 0;
    await onEach(TASKS, async (task) => {
      asked.push(task.task_id);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    expect([...asked].sort()).toEqual(TASKS.map((each) => each.task_id).sort());
    expect(most).toBe(5);
  });

  it("tells how far it is", async () => {
    const told: number[] = [];
    await onEach(
      TASKS.slice(0, 3),
      () => Promise.resolve(),
      (finished) => told.push(finished),
    );
    expect(told).toEqual([1, 2, 3]);
  });
});

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

describe("marks with shift", () => {
  const order = ["a", "b", "c", "d"];

  it("take everything between, in either direction, and keep what was marked", () => {
    expect([...withRange(new Set(["d"]), order, "c", "a")].sort()).toEqual(["a", "b", "c", "d"]);
    expect([...withRange(new Set(), order, "b", "c")]).toEqual(["b", "c"]);
  });

  it("take one row where none was marked before", () => {
    expect([...withRange(new Set(), order, null, "c")]).toEqual(["c"]);
  });
});
