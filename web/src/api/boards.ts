// A project's board as it is kept here: read as it begins once, from then on only what has changed. A card that is as it
// was stays the same object, so nothing of it is drawn again. Further open tasks of a column, and tasks that were closed
// long ago, are read on demand.
import type { QueryClient } from "@tanstack/react-query";

import { api } from "@/api/client";
import { PRIORITIES } from "@/api/filter";
import type { Board, BoardColumn, BoardTask, TaskStatus } from "@/api/model";
import { inProject } from "@/api/routes";

/** `whole`: this is the board as it begins. A server that says nothing of it answers no other. */
interface Answer {
  tasks: BoardTask[];
  whole?: boolean;
  columns?: BoardColumn[] | undefined;
  older?: string | null;
  last_event: number;
}

/** The board now, from what is kept under this key and what the server answers. */
export async function readBoard(client: QueryClient, key: readonly unknown[], projectId: string): Promise<Board> {
  const after = client.getQueryData<Board>(key)?.last_event;
  const answer = await api.get("/projects/{project_id}/board", { ...inProject(projectId), query: { after } });
  return merged(client.getQueryData<Board>(key), answer); // as it is kept by now: somebody may have moved a card
}

/** From here on boards are read whole once: after a break, or when they are worded in another language. */
export function readBoardsWhole(client: QueryClient): void {
  client.setQueriesData<Board>({ queryKey: ["board"] }, (known) => known && { ...known, last_event: null });
}

/** Adds the next tasks that were closed before those that are there. */
export async function readOlder(client: QueryClient, key: readonly unknown[], projectId: string): Promise<void> {
  const older = client.getQueryData<Board>(key)?.older;
  if (older == null) return;
  const answer = await api.get("/projects/{project_id}/board", { ...inProject(projectId), query: { older } });
  client.setQueryData<Board>(key, (known) =>
    known?.older !== older
      ? known // it has been read whole in the meantime
      : { ...known, tasks: merged(known, answer).tasks, older: answer.older },
  );
}

/** Adds the next open tasks of a column (`open`: at most that many). What has changed elsewhere meanwhile is read after its event. */
export async function readMore(
  client: QueryClient,
  key: readonly unknown[],
  projectId: string,
  status: TaskStatus,
  open?: number,
): Promise<void> {
  const more = moreOf(client.getQueryData<Board>(key), status);
  if (more == null) return;
  const answer = await api.get("/projects/{project_id}/board", { ...inProject(projectId), query: { more, open } });
  client.setQueryData<Board>(key, (known) => {
    if (known === undefined || moreOf(known, status) !== more) return known; // it has been read whole in the meantime
    const { tasks } = merged(known, answer);
    const next = moreOf(answer, status) ?? null;
    return {
      ...known,
      tasks,
      columns: known.columns?.map((each) => (each.status === status ? { ...each, more: next } : each)),
    };
  });
}

const moreOf = (board: { columns?: BoardColumn[] | undefined } | undefined, status: TaskStatus) =>
  board?.columns?.find((each) => each.status === status)?.more;

/** How many open tasks of each column are not on the board yet, where there are any. */
export function notShown({ tasks, columns = [] }: Board): Map<TaskStatus, number> {
  const shown = new Map<TaskStatus, number>();
  for (const { status } of tasks) shown.set(status, (shown.get(status) ?? 0) + 1);
  return new Map(
    columns
      .filter((each) => each.more !== null)
      .map((each) => [each.status, Math.max(0, each.count - (shown.get(each.status) ?? 0))] as const)
      .filter(([, many]) => many > 0),
  );
}

export function merged(known: Board | undefined, { tasks, whole, columns, older, last_event }: Answer): Board {
  if (known === undefined) return { tasks, columns, older, last_event };
  const before = new Map(known.tasks.map((each) => [each.task_id, each]));
  const fresh = tasks.map((each) => sameOr(before.get(each.task_id), each));
  return whole === false
    ? { ...known, tasks: patched(known.tasks, before, fresh), columns: counted(known.columns, columns), last_event }
    : { tasks: kept(known.tasks, fresh), columns, older, last_event };
}

/** How many there are now, and what leads to those that follow, as it was. */
function counted(known: BoardColumn[] | undefined, now: BoardColumn[] | undefined): BoardColumn[] | undefined {
  return known?.map((each) => {
    const count = now?.find(({ status }) => status === each.status)?.count ?? each.count;
    return count === each.count ? each : { ...each, count };
  });
}

/** What was there, with these cards in the place of theirs. */
function patched(tasks: BoardTask[], before: Map<string, BoardTask>, fresh: BoardTask[]): BoardTask[] {
  const changed = new Map(
    fresh.filter((each) => before.get(each.task_id) !== each).map((each) => [each.task_id, each]),
  );
  if (changed.size === 0) return tasks;
  const all = tasks.map((each) => changed.get(each.task_id) ?? each);
  for (const [id, each] of changed) if (!before.has(id)) all.push(each);
  const elsewhere = [...changed.values()].some((each) => {
    const old = before.get(each.task_id);
    return old === undefined || inOrder(old, each) !== 0;
  });
  return elsewhere ? all.sort(inOrder) : all;
}

function kept(tasks: BoardTask[], fresh: BoardTask[]): BoardTask[] {
  return tasks.length === fresh.length && fresh.every((each, place) => each === tasks[place]) ? tasks : fresh;
}

function sameOr(old: BoardTask | undefined, card: BoardTask): BoardTask {
  return old !== undefined && alike(old, card) ? old : card;
}

function alike(one: BoardTask, other: BoardTask): boolean {
  const names = Object.keys(other) as (keyof BoardTask)[];
  return names.every(
    (name) => one[name] === other[name] || (name === "dependencies" && sameList(one[name], other[name])),
  );
}

function sameList(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((each, place) => each === other[place]);
}

/** By priority and place, as the server has them. */
function inOrder(one: BoardTask, other: BoardTask): number {
  return (
    PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority) ||
    compare(one.line_at, other.line_at) ||
    one.line_rank - other.line_rank ||
    compare(one.task_id, other.task_id)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
