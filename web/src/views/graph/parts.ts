// What hangs together by links is one part: it is laid out by itself, and the parts stand in rows. Tasks without links
// are no part: by default they are only counted. Pure.
import type { BoardTask } from "@/api/model";

import { NODE, grouped, inOrder, type Link, type Place } from "./flow";

export interface Part {
  tasks: BoardTask[];
  links: Link[];
}

/** The parts, in the order of their first tasks, and the tasks that no link leads to or from. */
export function partsOf(
  tasks: readonly BoardTask[],
  links: readonly Link[],
): { parts: Part[]; loose: readonly BoardTask[] } {
  const heads = new Map<string, string>();
  const head = (id: string): string => {
    let at = id;
    for (let next = heads.get(at); next !== undefined && next !== at; next = heads.get(at)) at = next;
    heads.set(id, at); // the next search from here is short
    return at;
  };
  for (const { from, to } of links) heads.set(head(from), head(to));
  const parts = new Map<string, Part>();
  const loose: BoardTask[] = [];
  for (const task of tasks) {
    if (!heads.has(task.task_id)) {
      loose.push(task);
      continue;
    }
    const id = head(task.task_id);
    const known = parts.get(id);
    if (known === undefined) parts.set(id, { tasks: [task], links: [] });
    else known.tasks.push(task);
  }
  for (const link of links) parts.get(head(link.from))?.links.push(link);
  return { parts: [...parts.values()], loose };
}

export interface Step {
  task: BoardTask;
  /** How many stand before it in the longest chain that leads to it. */
  depth: number;
}

/** A part as a list: everything before what waits for it. */
export function stepsOf({ tasks, links }: Part): Step[] {
  const before = grouped(links, (each) => each.to);
  const byId = new Map(tasks.map((each) => [each.task_id, each]));
  const depths = new Map<string, number>();
  return inOrder([...byId.keys()], before).flatMap((id) => {
    const depth = (before.get(id) ?? []).reduce((most, { from }) => Math.max(most, 1 + (depths.get(from) ?? 0)), 0);
    depths.set(id, depth);
    const task = byId.get(id);
    return task === undefined ? [] : [{ task, depth }];
  });
}

/** What a part is called: the task for which all others are done. */
export function headOf({ tasks, links }: Part): BoardTask | undefined {
  const leads = new Set(links.map((each) => each.from));
  const last = tasks.filter((each) => !leads.has(each.task_id));
  return last.find((each) => each.parent_task_id === null) ?? last[0] ?? tasks[0];
}

export interface Size {
  width: number;
  height: number;
}

export const GAP = 36;
/** From layer to layer, and within one. */
const [ALONG, ACROSS] = [52, 16];

/** Where the tasks of a part stand, from its corner: each behind all that it waits for, in the lane of what stands before
 * it where that is free. A chain is a row. */
export function quickly(part: Part, downwards: boolean): Size & { places: ReadonlyMap<string, Place> } {
  const before = grouped(part.links, (each) => each.to);
  const lanes = new Map<string, number>();
  const taken = new Map<number, Set<number>>();
  let [many, deepest] = [0, 0];
  const places = new Map<string, Place>();
  for (const { task, depth } of stepsOf(part)) {
    const from = (before.get(task.task_id) ?? []).flatMap((each) => lanes.get(each.from) ?? []);
    const here = taken.get(depth) ?? new Set<number>();
    let lane = from.length === 0 ? many : Math.floor(from.reduce((sum, each) => sum + each, 0) / from.length);
    while (here.has(lane)) lane += 1;
    taken.set(depth, here.add(lane));
    lanes.set(task.task_id, lane);
    [many, deepest] = [Math.max(many, lane + 1), Math.max(deepest, depth)];
    const along = depth * ((downwards ? NODE.height : NODE.width) + ALONG);
    const across = lane * ((downwards ? NODE.width : NODE.height) + ACROSS);
    places.set(task.task_id, downwards ? { x: across, y: along } : { x: along, y: across });
  }
  const size = (layers: number, each: number, gap: number) => layers * (each + gap) - gap;
  const [layers, rows] = downwards ? [many, deepest + 1] : [deepest + 1, many];
  const [wide, high] = downwards ? [ACROSS, ALONG] : [ALONG, ACROSS];
  return { places, width: size(layers, NODE.width, wide), height: size(rows, NODE.height, high) };
}

/** Where each of these stands, in rows that are not much wider than `most`. */
export function rowsOf(sizes: readonly Size[], most: number, gap = GAP): Place[] {
  let [x, y, high] = [0, 0, 0];
  return sizes.map(({ width, height }) => {
    if (x > 0 && x + width > most) [x, y, high] = [0, y + high + gap, 0];
    const place = { x, y };
    [x, high] = [x + width + gap, Math.max(high, height)];
    return place;
  });
}

/** How wide the rows are: a picture of that many tasks has about the shape of a window, or of a phone. In coarse steps, so
 * that a few more tasks move none of those that are there. */
export function widthFor(count: number, downwards: boolean): number {
  const area = 2 ** Math.ceil(Math.log2(Math.max(1, count))) * (NODE.width + 52) * (NODE.height + 16) * 1.6;
  return Math.max(downwards ? 2 * NODE.width : 2400, Math.sqrt(area * (downwards ? 0.6 : 1.8)));
}
