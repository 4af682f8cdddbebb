// Which part of the graph the window shows: all of it where titles can be read then, else where it begins.
import { getViewportForBounds, useReactFlow, useStoreApi } from "@xyflow/react";

import { NODE } from "./flow";
import type { TaskNode } from "./node";

export const NEAREST = 1.75;
/** Below this, titles cannot be read: rather a part of the graph than all of it as dots. */
const READABLE = 0.45;
const [USUAL, FARTHEST] = [1.1, 0.01];
const PADDING = 0.15;
const MARGIN_PX = 40;
/** A larger picture jumps into its place: moving it would draw much of it on the way. */
const MOVES_AT_MOST = 150;

export function useFitting(nodes: readonly TaskNode[]) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const duration = nodes.length > MOVES_AT_MOST ? 0 : 250;
  const fitted = () => {
    const { width, height } = store.getState();
    return getViewportForBounds(boundsOf(nodes), width, height, FARTHEST, USUAL, PADDING);
  };
  return {
    /** Where one begins to read. */
    begin: () => {
      const all = fitted();
      const first = firstOf(nodes);
      if (all.zoom >= READABLE || first === undefined) return void flow.setViewport(all, { duration });
      const [x, y] = [MARGIN_PX - first.x * READABLE, MARGIN_PX * 2 - first.y * READABLE];
      void flow.setViewport({ x, y, zoom: READABLE });
    },
    whole: () => void flow.setViewport(fitted(), { duration }),
  };
}

export function boundsOf(nodes: readonly TaskNode[]) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { position } of nodes) {
    [left, top] = [Math.min(left, position.x), Math.min(top, position.y)];
    [right, bottom] = [Math.max(right, position.x + NODE.width), Math.max(bottom, position.y + NODE.height)];
  }
  return nodes.length === 0
    ? { x: 0, y: 0, width: NODE.width, height: NODE.height }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

/** The one that is nearest to the corner: a large part may have nothing in its own. */
function firstOf(nodes: readonly TaskNode[]): { x: number; y: number } | undefined {
  const from = ({ position }: TaskNode) => position.x + position.y;
  return nodes.reduce<TaskNode | undefined>(
    (first, each) => (first === undefined || from(each) < from(first) ? each : first),
    undefined,
  )?.position;
}
