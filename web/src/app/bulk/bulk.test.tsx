import { describe, expect, it } from "vitest";

import { Refused } from "@/api/client";
import type { BoardTask } from "@/api/model";
import { card, fullTask } from "@/testkit";

import { onEach } from "./on-each";
import { byReason } from "./reasons";
import { withRange } from "./use-marks";

const TASKS = Array.from({ length: 40 }, (_, n) => ({ task_id: String(n) }) as BoardTask);
const NOW = fullTask({ task_id: "t" });

describe("one act on many", () => {
  it("does the rest when some are refused, and keeps each refusal with its task", async () => {
    const no = new Error("No.");
    const { done, refused } = await onEach(TASKS, (task) =>
      Number(task.task_id) % 10 === 3 ? Promise.reject(no) : Promise.resolve(NOW),
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
      return NOW;
    });
    expect([...asked].sort()).toEqual(TASKS.map((each) => each.task_id).sort());
    expect(most).toBe(5);
  });

  it("tells how far it is", async () => {
    const told: number[] = [];
    await onEach(
      TASKS.slice(0, 3),
      () => Promise.resolve(NOW),
      (finished) => told.push(finished),
    );
    expect(told).toEqual([1, 2, 3]);
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

describe("what was refused", () => {
  const no = (detail: string, instruction = "") =>
    new Refused({ status: 409, code: "invalidTransition", title: "", detail, instruction });
  const closed = (id: string) => card({ task_id: id, title: `Task ${id}`, status: "cancelled" });

  it("is told by reason, the reason of the most tasks first, whatever task each names", () => {
    const many = ["t1", "t2", "t3"].map((id) => ({ task: closed(id), error: no(`${id} is cancelled.`, `See ${id}.`) }));
    const found = byReason([{ task: card({ task_id: "t9" }), error: no("Ada is busy with t9.") }, ...many], "");
    expect(found.map((each) => [each.what, each.next, each.tasks.map(({ task_id }) => task_id)])).toEqual([
      ["… is cancelled.", "See ….", ["t1", "t2", "t3"]],
      ["Ada is busy with t9.", "", ["t9"]],
    ]);
  });

  it("is worded by the page where the server did not answer", () => {
    const found = byReason([{ task: closed("t1"), error: new Error("gone") }], "away");
    expect(found.map(({ what }) => what)).toEqual(["gone"]);
  });
});
