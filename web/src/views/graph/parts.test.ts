import { describe, expect, it } from "vitest";

import type { BoardTask } from "@/api/model";

import { linksOf } from "./flow";
import { headOf, partsOf, quickly, rowsOf, stepsOf, widthFor } from "./parts";

const task = (id: string, more: Partial<BoardTask> = {}) =>
  ({ task_id: id, title: id, status: "todo", dependencies: [], parent_task_id: null, ...more }) as unknown as BoardTask;
const ids = (tasks: readonly BoardTask[]) => tasks.map((each) => each.task_id);
const TASKS = [
  task("alone"),
  task("house"),
  task("roof", { parent_task_id: "house", dependencies: ["walls"] }),
  task("dig"),
  task("walls", { parent_task_id: "house" }),
  task("pour", { dependencies: ["dig"] }),
];

describe("the parts of a graph", () => {
  it("are what hangs together, the first first; tasks without links stand apart", () => {
    const { parts, loose } = partsOf(TASKS, linksOf(TASKS));
    expect(parts.map((each) => ids(each.tasks))).toEqual([
      ["house", "roof", "walls"],
      ["dig", "pour"],
    ]);
    expect(ids(loose)).toEqual(["alone"]);
    expect(parts.map((each) => each.links.length)).toEqual([2, 1]);
  });

  it("read as chains: everything before what waits for it, under the name of what all is done for", () => {
    const [part] = partsOf(TASKS, linksOf(TASKS)).parts;
    expect(part && stepsOf(part).map((each) => [each.task.task_id, each.depth])).toEqual([
      ["walls", 0],
      ["roof", 1],
      ["house", 2],
    ]);
    expect(part && headOf(part)?.task_id).toBe("house");
  });

  it("of a chain of five thousand tasks is one part, found at once", () => {
    const chain = Array.from({ length: 5000 }, (_, n) => task(`${n}`, n === 0 ? {} : { dependencies: [`${n - 1}`] }));
    const { parts, loose } = partsOf(chain, linksOf(chain));
    expect([parts.length, loose.length]).toEqual([1, 0]);
    expect(parts[0] && stepsOf(parts[0]).at(-1)?.depth).toBe(4999);
  });
});

describe("the place of tasks in a large graph", () => {
  it("is behind all that they wait for, and no two stand on each other", () => {
    const many = Array.from({ length: 5000 }, (_, n) =>
      task(`${n}`, { dependencies: [n - 1, n - 7, n - 40].filter((each) => each >= 0 && n % 3 > 0).map(String) }),
    );
    for (const part of partsOf(many, linksOf(many)).parts) {
      const { places, width, height } = quickly(part, false);
      expect(places.size).toBe(part.tasks.length);
      expect(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(places.size);
      expect([...places.values()].every(({ x, y }) => x + 224 <= width && y + 76 <= height)).toBe(true);
      for (const { from, to } of part.links) expect(places.get(from)?.x).toBeLessThan(places.get(to)?.x ?? 0);
    }
  });

  it("is a row for a chain, and on a phone a column", () => {
    const chain = [task("a"), task("b", { dependencies: ["a"] }), task("c", { dependencies: ["b"] })];
    const [part] = partsOf(chain, linksOf(chain)).parts;
    const at = (downwards: boolean) => part && [...quickly(part, downwards).places.values()];
    expect(new Set(at(false)?.map((each) => each.y)).size).toBe(1);
    expect(new Set(at(true)?.map((each) => each.x)).size).toBe(1);
  });
});

describe("the place of parts", () => {
  it("is in rows below each other, and what comes later moves nothing", () => {
    const sizes = [60, 30, 50, 20].map((width) => ({ width, height: width }));
    const all = rowsOf(sizes, 100, 10);
    expect(all).toEqual([
      { x: 0, y: 0 },
      { x: 70, y: 0 },
      { x: 0, y: 70 },
      { x: 60, y: 70 },
    ]);
    expect(rowsOf(sizes.slice(0, 3), 100, 10)).toEqual(all.slice(0, 3));
  });

  it("stays as wide for some more tasks", () => {
    expect(widthFor(600, false)).toBe(widthFor(1000, false));
    expect(widthFor(5000, false)).toBeGreaterThan(widthFor(5000, true));
  });
});
