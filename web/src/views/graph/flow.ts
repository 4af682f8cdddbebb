// The tasks as a graph, from what comes first to what waits for it: edges, the critical path, who is held up, and what
// the layout is asked. Pure; the picture is drawn elsewhere.
import { isClosed, isFinal, type BoardTask } from "@/api/model";

export interface Link {
  id: string;
  /** Comes first. */
  from: string;
  /** Waits for it. */
  to: string;
  kind: "dependency" | "subtask";
}

export interface Place {
  x: number;
  y: number;
}

export const NODE = { width: 224, height: 76 };

export const isOpen = (task: BoardTask) => !isClosed(task);

/** One tree or everything, with or without what is finished. */
export function chosen(tasks: readonly BoardTask[], root: string | undefined, openOnly: boolean): BoardTask[] {
  return tasks.filter((each) => (root === undefined || each.root_task_id === root) && (!openOnly || !isFinal(each)));
}

/** A task waits for its dependencies and for its subtasks: both are drawn towards who waits. */
export function linksOf(tasks: readonly BoardTask[]): Link[] {
  const here = new Set(tasks.map((each) => each.task_id));
  const links = tasks.flatMap((task): Link[] => [
    ...task.dependencies.map((from) => link(from, task.task_id, "dependency")),
    ...(task.parent_task_id === null ? [] : [link(task.task_id, task.parent_task_id, "subtask")]),
  ]);
  const drawn = links.filter((each) => here.has(each.from) && here.has(each.to));
  const parents = new Map(tasks.map((each) => [each.task_id, each.parent_task_id]));
  const waiting = grouped(
    drawn.filter((each) => each.kind === "dependency"),
    (each) => each.from,
  );
  // a subtask that a sibling waits for: the sibling's own way to the parent says it too
  const said = (each: Link) => waiting.get(each.from)?.some((other) => parents.get(other.to) === each.to) ?? false;
  return drawn.filter((each) => each.kind === "dependency" || !said(each));
}

function link(from: string, to: string, kind: Link["kind"]): Link {
  return { id: `${kind}:${from}:${to}`, from, to, kind };
}

/** The longest chain of open tasks: nothing is over before they are, one after the other. Empty if none waits. */
export function criticalPath(tasks: readonly BoardTask[], links: readonly Link[]): string[] {
  const open = new Set(tasks.filter(isOpen).map((each) => each.task_id));
  const before = grouped(
    links.filter((each) => open.has(each.from) && open.has(each.to)),
    (each) => each.to,
  );
  const longest = new Map<string, { length: number; from: string | null }>();
  const length = (id: string): number => longest.get(id)?.length ?? 0;
  for (const id of inOrder([...open], before)) {
    const from = (before.get(id) ?? [])
      .map((each) => each.from)
      .reduce<string | null>((best, each) => (length(each) > (best === null ? 0 : length(best)) ? each : best), null);
    longest.set(id, { length: 1 + (from === null ? 0 : length(from)), from });
  }
  const end = [...open].reduce<string | null>((best, id) => (length(id) > (best ? length(best) : 1) ? id : best), null);
  const path: string[] = [];
  for (let at = end; at !== null; at = longest.get(at)?.from ?? null) path.unshift(at);
  return path;
}

/** Everything before what waits for it; a circle (the server refuses them) is cut where it is met. */
export function inOrder(ids: readonly string[], before: ReadonlyMap<string, readonly Link[]>): string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  for (const start of ids) {
    const stack = [{ id: start, left: false }];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (at.left) order.push(at.id);
      else if (!seen.has(at.id)) {
        seen.add(at.id);
        stack.push({ id: at.id, left: true });
        for (const each of (before.get(at.id) ?? []).toReversed())
          if (!seen.has(each.from)) stack.push({ id: each.from, left: false });
      }
    }
  }
  return order;
}

/** Open tasks that cannot end because something before them is blocked, has failed or was cancelled. */
export function heldUp(tasks: readonly BoardTask[], links: readonly Link[]): Set<string> {
  const byId = new Map(tasks.map((each) => [each.task_id, each]));
  const after = grouped(links, (each) => each.from);
  const held = new Set<string>();
  const stuck = (task: BoardTask) => task.status === "blocked" || task.status === "failed";
  const waiting = tasks.filter((each) => stuck(each) || each.status === "cancelled");
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const each of after.get(at.task_id) ?? []) {
      const next = byId.get(each.to);
      const counts = each.kind === "dependency" || at.status !== "cancelled"; // nobody waits for a cancelled subtask
      if (next === undefined || !counts || held.has(next.task_id) || !isOpen(next)) continue;
      held.add(next.task_id);
      waiting.push(next);
    }
  }
  return held;
}

/** What the layout is asked: who stands where depends on the links alone, not on how far the tasks are. */
export function layoutInput(tasks: readonly BoardTask[], links: readonly Link[], downwards = false) {
  return {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": downwards ? "DOWN" : "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": "52",
      "elk.spacing.nodeNode": "16",
      "elk.spacing.componentComponent": "36",
      "elk.aspectRatio": downwards ? "0.6" : "1.8",
      "elk.layered.considerModelOrder.strategy": "PREFER_NODES",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
    },
    children: tasks.map((each) => ({ id: each.task_id, ...NODE })),
    edges: links.map((each) => ({ id: each.id, sources: [each.from], targets: [each.to] })),
  };
}

export function grouped<Value>(values: readonly Value[], key: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const each of values) {
    const group = groups.get(key(each));
    if (group === undefined) groups.set(key(each), [each]);
    else group.push(each);
  }
  return groups;
}
