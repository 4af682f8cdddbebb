// How cards are laid out: lanes from top to bottom, in each a column for every status. Pure, and tested as such.
import { CLOSED, STATUSES, type BoardTask, type TaskStatus } from "@/api/model";

export type By = "none" | "agent" | "parent";
export const BYS: readonly By[] = ["none", "agent", "parent"];

export interface Lane {
  /** The agent or the parent; null: nobody, none. */
  id: string | null;
  cards: Record<TaskStatus, BoardTask[]>;
  count: number;
}

const RANK = { critical: 0, high: 1, medium: 2, low: 3 } as const;

/** Lanes in the order in which their ids are named by `order`; those without one come last. */
export function lanes(tasks: readonly BoardTask[], by: By, order: readonly string[] = []): Lane[] {
  const found = new Map<string | null, BoardTask[]>();
  for (const task of tasks) {
    const id = by === "agent" ? task.assignee_id : by === "parent" ? task.parent_task_id : null;
    const lane = found.get(id);
    if (lane === undefined) found.set(id, [task]);
    else lane.push(task);
  }
  const place = new Map(order.map((id, index) => [id, index]));
  const rank = (id: string | null) => (id === null ? Infinity : (place.get(id) ?? order.length));
  return [...found]
    .toSorted(([one], [other]) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)))
    .map(([id, cards]) => ({ id, cards: columns(cards), count: cards.length }));
}

/** Open cards by priority and place, closed ones by when they were closed, the newest first. */
export function columns(tasks: readonly BoardTask[]): Record<TaskStatus, BoardTask[]> {
  const found = Object.fromEntries(STATUSES.map((status) => [status, [] as BoardTask[]])) as Lane["cards"];
  for (const task of tasks) found[task.status].push(task);
  for (const status of STATUSES) found[status].sort(CLOSED.includes(status) ? newest : mostUrgent);
  return found;
}

/** The lane as one walks through it: what is folded is stepped over. */
export function without(lane: Lane, folded: ReadonlySet<TaskStatus>): Lane {
  const cards = { ...lane.cards };
  for (const status of folded) cards[status] = [];
  return { ...lane, cards };
}

function mostUrgent(one: BoardTask, other: BoardTask): number {
  return RANK[one.priority] - RANK[other.priority] || compare(one.line_at, other.line_at);
}

function newest(one: BoardTask, other: BoardTask): number {
  return compare(other.completed_at ?? other.updated_at, one.completed_at ?? one.updated_at);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The cards as one reads them: lane after lane, column after column. */
export function inOrder(all: readonly Lane[]): string[] {
  return all.flatMap((lane) => STATUSES.flatMap((status) => lane.cards[status].map((each) => each.task_id)));
}

/** The card that a step leads to: up and down in its column, left and right to the next column that has cards. */
export function neighbour(
  all: readonly Lane[],
  at: string | null,
  step: "up" | "down" | "left" | "right",
): string | null {
  const places = all.flatMap((lane, row) =>
    STATUSES.flatMap((status, column) => lane.cards[status].map((card, index) => ({ card, row, column, index }))),
  );
  const here = places.find((each) => each.card.task_id === at);
  if (here === undefined) return places[0]?.card.task_id ?? null;
  const sideways = step === "left" || step === "right";
  const sign = step === "up" || step === "left" ? -1 : 1;
  const wanted = sideways
    ? places
        .filter((each) => each.row === here.row && Math.sign(each.column - here.column) === sign)
        .toSorted(
          (one, other) =>
            Math.abs(one.column - here.column) - Math.abs(other.column - here.column) ||
            Math.abs(one.index - here.index) - Math.abs(other.index - here.index),
        )[0]
    : places
        .filter((each) => each.column === here.column)
        .find((_, place, column) => column[place - sign]?.card.task_id === at);
  return (wanted ?? here).card.task_id;
}
