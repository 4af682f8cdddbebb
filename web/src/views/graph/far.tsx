// The graph from far away: where no title could be read, every task is a rectangle and every link a line, drawn on one
// canvas in one go. Five thousand tasks are as quick as fifty.
import { useStore, type Edge } from "@xyflow/react";
import { useEffect, useRef } from "react";

import { useTranslation } from "@/i18n/use-words";

import { NODE } from "./flow";
import type { TaskNode } from "./node";

/** Below this zoom tasks are rectangles. */
export const FAR = 0.3;

export const COLOURS: Record<string, string> = {
  in_progress: "--blue",
  blocked: "--amber",
  failed: "--red",
  completed: "--green",
};
export const OTHER = "--line-strong";

const AT_ONCE = 100;

interface FarProps {
  nodes: readonly TaskNode[];
  edges: readonly Edge[];
  /** The tasks are drawn elsewhere. */
  linesOnly: boolean;
}

export function Far({ nodes, edges, linesOnly }: FarProps) {
  const { t } = useTranslation("graph");
  const box = useRef<HTMLCanvasElement>(null);
  const [x, y, zoom] = useStore((store) => store.transform);
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const canvas = box.current;
      const pen = canvas?.getContext("2d");
      if (!canvas || !pen) return;
      const sharp = window.devicePixelRatio || 1;
      [canvas.width, canvas.height] = [width * sharp, height * sharp];
      pen.setTransform(sharp * zoom, 0, 0, sharp * zoom, sharp * x, sharp * y);
      const draw = brush(pen, nodes, getComputedStyle(canvas), zoom);
      draw.lines(edges);
      if (!linesOnly) draw.tasks();
      canvas.dataset["drawn"] = String(linesOnly ? 0 : nodes.length);
    });
    return () => cancelAnimationFrame(frame);
  }, [nodes, edges, linesOnly, x, y, zoom, width, height]);
  return (
    <canvas
      ref={box}
      {...(linesOnly ? { "aria-hidden": true } : { role: "img", "aria-label": t("far", { count: nodes.length }) })}
      className="pointer-events-none absolute inset-0 size-full"
    />
  );
}

function brush(pen: CanvasRenderingContext2D, nodes: readonly TaskNode[], style: CSSStyleDeclaration, zoom: number) {
  const colours = new Map<string, string>();
  const colour = (name: string) => {
    const known = colours.get(name) ?? style.getPropertyValue(name).trim();
    colours.set(name, known);
    return known;
  };
  const places = new Map(nodes.map((each) => [each.id, each.position]));
  const downwards = nodes[0]?.data.downwards ?? false;
  const [out, into] = downwards
    ? [
        { x: NODE.width / 2, y: NODE.height },
        { x: NODE.width / 2, y: 0 },
      ]
    : [
        { x: NODE.width, y: NODE.height / 2 },
        { x: 0, y: NODE.height / 2 },
      ];
  function lines(edges: readonly Edge[]) {
    pen.lineWidth = 1 / zoom;
    pen.strokeStyle = colour("--ink-faint");
    pen.beginPath();
    edges.forEach(({ source, target }, at) => {
      const [from, to] = [places.get(source), places.get(target)];
      if (from === undefined || to === undefined) return;
      pen.moveTo(from.x + out.x, from.y + out.y);
      pen.lineTo(to.x + into.x, to.y + into.y);
      if (at % AT_ONCE > 0) return;
      pen.stroke(); // one line of thousands of pieces is drawn much slower than many short ones
      pen.beginPath();
    });
    pen.stroke();
  }
  function tasks() {
    for (const { position, data, selected } of nodes) {
      pen.fillStyle = colour(COLOURS[data.task.status] ?? OTHER);
      pen.fillRect(position.x, position.y, NODE.width, NODE.height);
      if (!selected && !data.critical && !data.circle) continue;
      pen.lineWidth = (selected ? 4 : 2) / zoom;
      pen.strokeStyle = colour(data.circle ? "--red" : "--accent");
      pen.strokeRect(position.x, position.y, NODE.width, NODE.height);
    }
  }
  return { lines, tasks };
}

/** The task that is drawn at a point. */
export function nodeAt(nodes: readonly TaskNode[], x: number, y: number): string | null {
  const found = nodes.find(
    ({ position }) =>
      x >= position.x && x <= position.x + NODE.width && y >= position.y && y <= position.y + NODE.height,
  );
  return found?.id ?? null;
}
