import { describe, expect, it } from "vitest";

import type { TaskNode } from "./node";
import { frameOf, within } from "./seen";

const at = (x: number, y: number) => ({ id: `${x} ${y}`, position: { x, y } }) as TaskNode;
const view = (x: number, y: number, zoom: number) => ({ transform: [x, y, zoom] as const, width: 1200, height: 800 });

describe("what is seen of a large graph", () => {
  it("is all that lies in the window, wherever it stands and however near", () => {
    for (const zoom of [0.3, 0.45, 0.7, 1, 1.75])
      for (const [x, y] of [
        [0, 0],
        [333, -777],
        [-5000, 120],
      ] as const) {
        const corners = [
          at(-x / zoom, -y / zoom),
          at((1199 - x) / zoom, (799 - y) / zoom),
          at(-x / zoom - 200, -y / zoom - 60),
        ];
        expect(within(corners, frameOf(view(x, y, zoom)))).toHaveLength(3);
      }
  });

  it("is little more than the window", () => {
    const [left = 0, top = 0, right = 0, bottom = 0] = frameOf(view(-100, -100, 0.45))
      .split(" ")
      .map(Number);
    expect(((right - left) * (bottom - top)) / ((1200 / 0.45) * (800 / 0.45))).toBeLessThan(1.6);
  });

  it("stays the same while the window moves a little, and is nothing from far away", () => {
    expect(frameOf(view(-101, -101, 0.5))).toBe(frameOf(view(-104, -103, 0.5)));
    expect(frameOf(view(0, 0, 0.29))).toBe("");
  });
});
