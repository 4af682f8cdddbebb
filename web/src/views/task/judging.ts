// Who may judge a request: owners, and whoever stands above its assignee or has a task above it. The server decides by
// the same rule (`relation` in src/toryo/domain/moves.py); here it is asked whether to show the buttons at all.
import { useQuery } from "@tanstack/react-query";

import type { Agent, BoardTask, Me, Task } from "@/api/model";
import { agents, board, me } from "@/api/queries";

export function useJudges(task: Task): boolean {
  const who = useQuery(me).data;
  const team = useQuery(agents).data;
  const cards = useQuery(board(task.project_id)).data?.tasks;
  // While something is not known, nothing is held back: the server refuses in any case.
  return who === undefined || team === undefined || cards === undefined || judges(who, task, team, cards);
}

type Asked = Pick<Task, "assignee_id" | "parent_task_id">;

export function judges(who: Me, task: Asked, team: readonly Agent[], cards: readonly BoardTask[]): boolean {
  if (who.login === "owner") return true;
  const superior = new Map(team.map((each) => [each.agent_id, each.reports_to]));
  const parent = new Map(cards.map((each) => [each.task_id, each]));
  return [
    ...chain(task.assignee_id, (id) => superior.get(id)),
    ...chain(task.parent_task_id, (id) => parent.get(id)?.parent_task_id, true).map(
      (id) => parent.get(id)?.assignee_id,
    ),
  ].includes(who.person_id);
}

/** What stands above, step by step; the first one only if it is wanted, and nothing twice. */
function chain(first: string | null, above: (id: string) => string | null | undefined, withFirst = false): string[] {
  const found: string[] = [];
  let at = first ?? undefined;
  if (!withFirst) at = at === undefined ? undefined : (above(at) ?? undefined);
  while (at !== undefined && !found.includes(at)) {
    found.push(at);
    at = above(at) ?? undefined;
  }
  return found;
}
