// Which open work belongs to which task: subtasks are reviewed and merged with what they are a part of.
import { useQuery } from "@tanstack/react-query";

import type { BoardTask, Task, Worktree } from "@/api/model";
import { board, worktrees } from "@/api/queries";

/** Tasks below this one whose work is not merged yet. */
export function useParts(task: Task): { card: BoardTask; work: Worktree }[] {
  const cards = useQuery(board(task.project_id)).data?.tasks ?? [];
  const open = useQuery(worktrees(task.project_id)).data ?? [];
  const byId = new Map(cards.map((each) => [each.task_id, each]));
  const isBelow = (card: BoardTask): boolean => {
    for (let at: BoardTask | undefined = card; at?.parent_task_id; at = byId.get(at.parent_task_id))
      if (at.parent_task_id === task.task_id) return true;
    return false;
  };
  return open.flatMap((work) => {
    const card = byId.get(work.task_id);
    return card !== undefined && work.state === "open" && isBelow(card) ? [{ card, work }] : [];
  });
}
