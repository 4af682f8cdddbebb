// What the grid of the board is told, and what it tells its columns.
import type { TaskStatus } from "@/api/model";
import type { useMoreTasks } from "@/app/older";
import type { Shown } from "@/views/board/column";
import type { By, Lane } from "@/views/board/lanes";

export interface GridProps extends Shown {
  lanes: Lane[];
  by: By;
  /** Of the agents or the parents that lanes are for. */
  titles: Map<string, string>;
  more: More;
  folded: ReadonlySet<TaskStatus>;
  onFold: (status: TaskStatus) => void;
}

/** Open tasks that are not shown yet, by column. */
type More = ReturnType<typeof useMoreTasks>;

/** What every column is told. */
export function shownOf({ names, at, press, carried, onOpen, onSelect, marked, onMark }: Shown): Shown {
  return { names, at, press, carried, onOpen, onSelect, marked, onMark };
}
