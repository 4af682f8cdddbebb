// A project's board as it is kept here: read whole once, from then on only what has changed. A card that is as it was
// stays the same object, so nothing of it is drawn again. Tasks that were closed long ago are read on demand.
import type { QueryClient } from "@tanstack/react-query";

import { get } from "@/api/client";
import { PRIORITIES } from "@/api/filter";
import type { Board, BoardTask } from "@/api/model";

/** `whole`: these are all cards of the board. A server that says nothing of it answers no other. */
interface Answer {
  tasks: BoardTask[];
  whole?: boolean;
  older?: string | null;
  last_event: number;
}

/** The board now, from what is kept under this key and what the server answers. */
export async function readBoard(client: QueryClient, key: readonly unknown[], projectId: string): Promise<Board> {
  const after = client.getQueryData<Board>(key)?.last_event;
  const answer = await get<Answer>(`/projects/${encodeURIComponent(projectId)}/board`, { after });
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
  const answer = await get<Answer>(`/projects/${encodeURIComponent(projectId)}/board`, { older });
  client.setQueryData<Board>(key, (known) =>
    known?.older !== older
      ? known // it has been read whole in the meantime
      : { ...known, tasks: merged(known, answer).tasks, older: answer.older },
  );
}

export function merged(known: Board | undefined, { tasks, whole, older, last_event }: Answer): Board {
  if (known === undefined) return { tasks, older, last_event };
  const before = new Map(known.tasks.map((each) => [each.task_id, each]));
  const fresh = tasks.map((each) => sameOr(before.get(each.task_id), each));
  return whole === false
    ? { ...known, tasks: patched(known.tasks, before, fresh), last_event }
    : { tasks: kept(known.tasks, fresh), older, last_event };
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

/** By priority and age, as the server has them. */
function inOrder(one: BoardTask, other: BoardTask): number {
  return (
    PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority) ||
    compare(one.created_at, other.created_at) ||
    one.ordinal - other.ordinal ||
    compare(one.task_id, other.task_id)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
