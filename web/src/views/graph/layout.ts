// Where each task stands. A graph that fits into some windows is laid out by ELK in a worker; ELK would take many seconds
// for a large one, which is laid out in some milliseconds by `quickly`. Tasks without links stand below, as a grid.
import ELK, { type ELK as Engine, type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import { useEffect, useMemo, useState } from "react";

import type { BoardTask } from "@/api/model";

import { NODE, layoutInput, type Place } from "./flow";
import { GAP, quickly, rowsOf, widthFor, type Part } from "./parts";

export interface Layout {
  /** What was chosen to be shown: another choice is fitted into the window again. */
  of: string;
  places: ReadonlyMap<string, Place>;
}

/** This many tasks take ELK about half a second. */
const ELK_AT_MOST = 150;
const GRID_GAP = 16;

let engine: Engine | null = null;

/** One worker for as long as the page is open: it is large, and does one thing after the other. */
function worker(): Engine {
  engine ??= new ELK({ workerUrl });
  return engine;
}

interface Asked {
  /** What was chosen. */
  of: string;
  parts: readonly Part[];
  /** Tasks without links that are shown. */
  loose: readonly BoardTask[];
  downwards: boolean;
}

/** The last layout that is ready; null before the first. What is asked is compared as text: a task that only moves on
 * needs no new layout. */
export function useLayout({ of, parts, loose, downwards }: Asked): { layout: Layout | null; failed: unknown } {
  const [found, setFound] = useState<(Layout & { asked: string }) | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const tasks = useMemo(() => parts.flatMap((each) => each.tasks), [parts]);
  const quick = tasks.length > ELK_AT_MOST || tasks.length === 0;
  const asked = useMemo(() => {
    const links = parts.flatMap((each) => each.links);
    return quick ? null : JSON.stringify(layoutInput(tasks, links, downwards));
  }, [quick, tasks, parts, downwards]);
  useEffect(() => {
    let wanted = true;
    if (asked === null) return;
    worker()
      .layout(JSON.parse(asked) as ElkNode)
      .then((node) => wanted && setFound({ of, asked, places: placesOf(node) }))
      .catch((error: unknown) => wanted && setFailed(error));
    return () => {
      wanted = false;
    };
  }, [asked, of]);
  const layout = useMemo(() => {
    const linked = quick ? inRows(parts, downwards) : found?.places;
    if (linked === undefined) return null;
    return { of: quick ? of : (found?.of ?? of), places: withGrid(linked, loose, downwards) };
  }, [quick, parts, found, loose, downwards, of]);
  return { layout, failed };
}

function placesOf(found: ElkNode): Map<string, Place> {
  return new Map((found.children ?? []).map((each) => [each.id, { x: each.x ?? 0, y: each.y ?? 0 }]));
}

function inRows(parts: readonly Part[], downwards: boolean): Map<string, Place> {
  const laid = parts.map((each) => quickly(each, downwards));
  const count = laid.reduce((sum, each) => sum + each.places.size, 0);
  const corners = rowsOf(laid, widthFor(count, downwards));
  const found = new Map<string, Place>();
  laid.forEach(({ places }, at) => {
    const { x, y } = corners[at] ?? { x: 0, y: 0 };
    for (const [id, place] of places) found.set(id, { x: place.x + x, y: place.y + y });
  });
  return found;
}

function withGrid(
  linked: ReadonlyMap<string, Place>,
  loose: readonly BoardTask[],
  downwards: boolean,
): ReadonlyMap<string, Place> {
  if (loose.length === 0) return linked;
  let below = 0;
  for (const { y } of linked.values()) below = Math.max(below, y + NODE.height + GAP);
  const sizes = loose.map(() => NODE);
  const grid = rowsOf(sizes, widthFor(Math.max(linked.size, loose.length), downwards), GRID_GAP);
  const found = new Map(linked);
  loose.forEach((each, at) => found.set(each.task_id, { x: grid[at]?.x ?? 0, y: below + (grid[at]?.y ?? 0) }));
  return found;
}
