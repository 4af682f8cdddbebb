// Which columns are folded to a rail. What a person has chosen counts; else what was empty when the board was opened, and
// what was cancelled. A column that gets a card opens, and none folds by itself: nothing moves sideways while agents work.
import { useMemo, useState } from "react";

import { STATUSES, type BoardTask, type TaskStatus } from "@/api/model";

const KEPT = "toryo.board.folds";
export type Folds = Partial<Record<TaskStatus, boolean>>;
type Counts = Record<TaskStatus, number>;

export function countsOf(tasks: readonly Pick<BoardTask, "status">[]): Counts {
  const found = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Counts;
  for (const { status } of tasks) found[status] += 1;
  return found;
}

/** `opened`: how many cards each had when the board was opened; `filled`: columns that have got one since. */
export function isFolded(status: TaskStatus, chosen: Folds, opened: Counts, filled: ReadonlySet<TaskStatus>): boolean {
  return chosen[status] ?? (!filled.has(status) && (opened[status] === 0 || status === "cancelled"));
}

export function useFolds(tasks: readonly BoardTask[]): {
  folded: ReadonlySet<TaskStatus>;
  turn: (status: TaskStatus) => void;
} {
  const counts = countsOf(tasks);
  const [opened] = useState(counts);
  const [chosen, choose] = useState(read);
  const [filled, setFilled] = useState<ReadonlySet<TaskStatus>>(new Set());
  const more = STATUSES.filter((each) => counts[each] > opened[each] && !filled.has(each));
  if (more.length > 0) setFilled(new Set([...filled, ...more]));
  const folded = useMemo(
    () => new Set(STATUSES.filter((each) => isFolded(each, chosen, opened, filled))),
    [chosen, opened, filled],
  );
  return {
    folded,
    turn: (status) => {
      const next = { ...chosen, [status]: !folded.has(status) };
      localStorage.setItem(KEPT, JSON.stringify(next));
      choose(next);
    },
  };
}

function read(): Folds {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return typeof said === "object" && said !== null ? (said as Folds) : {};
  } catch {
    return {};
  }
}
