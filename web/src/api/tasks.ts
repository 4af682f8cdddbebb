// A change to a task, shown at once on the cached board, and taken back when the server refuses it.
import type { QueryClient } from "@tanstack/react-query";

import { editTask, type TaskEdit } from "@/api/actions";
import type { Board, BoardTask, Task } from "@/api/model";
import { board } from "@/api/queries";

/** Shows `change`, asks the server, and shows what it answers; a refusal brings back what was there, and is thrown. */
export async function changeCard(
  client: QueryClient,
  projectId: string,
  card: BoardTask,
  change: Partial<BoardTask>,
  ask: () => Promise<{ task: Task }>,
): Promise<Task> {
  put(client, projectId, card.task_id, change);
  try {
    const { task } = await ask();
    const { status, priority, assignee_id, dependencies, version } = task;
    put(client, projectId, card.task_id, { status, priority, assignee_id, dependencies, version });
    return task;
  } catch (error) {
    put(client, projectId, card.task_id, card);
    throw error;
  }
}

/** What a card waits for: links it to others, or unlinks it. */
export function relink(
  client: QueryClient,
  projectId: string,
  card: BoardTask,
  edit: Pick<TaskEdit, "add_dependencies" | "remove_dependencies">,
): Promise<Task> {
  const kept = card.dependencies.filter((each) => !edit.remove_dependencies?.includes(each));
  const dependencies = [...new Set([...kept, ...(edit.add_dependencies ?? [])])];
  return changeCard(client, projectId, card, { dependencies }, () => editTask(card.task_id, edit, card.version));
}

function put(client: QueryClient, projectId: string, taskId: string, change: Partial<BoardTask>): void {
  client.setQueryData<Board>(board(projectId).queryKey, (known) =>
    known === undefined
      ? known
      : { ...known, tasks: known.tasks.map((each) => (each.task_id === taskId ? { ...each, ...change } : each)) },
  );
}
