// What the window shows of a large graph: only that is given to the canvas, for it would draw everything once whenever
// the window jumps. A small graph is given to it as a whole.
import { useStore, type Edge } from "@xyflow/react";
import { useMemo } from "react";

import { FAR } from "./far";
import { NODE } from "./flow";
import type { TaskNode } from "./node";

/** More than this are given to the canvas only where they are seen. */
export const GIVEN_AT_MOST = 150;
/** The window is looked at in steps, so that not every pixel of a move is a change. */
const [ZOOM_STEP, CELLS] = [1.1, 8];
const NONE: never[] = [];

interface Seen {
  nodes: TaskNode[];
  edges: Edge[];
  /** Links that lead out of the window: lines, as from far away. */
  beyond: readonly Edge[];
  far: boolean;
}

interface Window {
  transform: readonly [number, number, number];
  width: number;
  height: number;
}

/** The part of the graph that is seen at least, as text: `left top right bottom`; empty from far away. */
export function frameOf({ transform: [x, y, zoom], width, height }: Window): string {
  if (zoom < FAR) return "";
  const step = ZOOM_STEP ** Math.floor(Math.log(zoom) / Math.log(ZOOM_STEP));
  const [across, down] = [width / step / CELLS, height / step / CELLS];
  const [left, top] = [Math.floor(-x / zoom / across) * across, Math.floor(-y / zoom / down) * down];
  const frame = [left, top, left + across * (CELLS + 1), top + down * (CELLS + 1)];
  return frame.map(Math.round).join(" ");
}

export function within(nodes: readonly TaskNode[], frame: string): TaskNode[] {
  const [left = 0, top = 0, right = 0, bottom = 0] = frame.split(" ").map(Number);
  return nodes.filter(
    ({ position: { x, y } }) => x <= right && y <= bottom && x + NODE.width >= left && y + NODE.height >= top,
  );
}

export function useSeen(nodes: TaskNode[], edges: Edge[]): Seen {
  const frame = useStore(frameOf);
  return useMemo(() => {
    if (frame === "") return { nodes: NONE, edges: NONE, beyond: NONE, far: true };
    if (nodes.length <= GIVEN_AT_MOST) return { nodes, edges, beyond: NONE, far: false };
    const seen = within(nodes, frame);
    const ids = new Set(seen.map((each) => each.id));
    const inside = (each: Edge) => ids.has(each.source) && ids.has(each.target);
    return { nodes: seen, edges: edges.filter(inside), beyond: edges.filter((each) => !inside(each)), far: false };
  }, [nodes, edges, frame]);
}
