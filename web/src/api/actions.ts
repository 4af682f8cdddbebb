// What a person does with tasks and agents: one function for each verb. A move is shown at once, and taken back where
// the server refuses it.
import type { QueryClient } from "@tanstack/react-query";

import { send } from "@/api/client";
import type { Board, BoardTask, Priority, Task, TaskStatus } from "@/api/model";
import { board, moves } from "@/api/queries";

const path = (taskId: string, verb = "") => `/tasks/${encodeURIComponent(taskId)}${verb}`;

/** Statuses that say why: the server asks for a reason. */
export const WANTS_REASON: readonly TaskStatus[] = ["blocked", "failed", "cancelled"];

interface Answer {
  task: Task;
}

export function moveTask(taskId: string, status: TaskStatus, reason?: string, version?: number): Promise<Answer> {
  return send<Answer>("POST", path(taskId, "/move"), { body: { status, ...(reason ? { reason } : {}) }, version });
}

/** Only as it was seen: another version is a conflict. */
export function approveTask(taskId: string, version: number): Promise<Answer> {
  return send<Answer>("POST", path(taskId, "/approve"), { body: {}, version });
}

export function rejectTask(taskId: string, reason: string): Promise<Answer> {
  return send<Answer>("POST", path(taskId, "/reject"), { body: reason ? { reason } : {} });
}

/** `warnings`: why what was said changes nothing. */
export function steerTask(
  taskId: string,
  text: string,
): Promise<Answer & { delivered_to: string; warnings?: string[] }> {
  return send("POST", path(taskId, "/steer"), { body: { text } });
}

export function confirmChecks(taskId: string, passed: boolean, message?: string): Promise<Answer> {
  return send<Answer>("POST", path(taskId, "/checks/confirm"), { body: { passed, ...(message ? { message } : {}) } });
}

export function requeueTask(taskId: string): Promise<unknown> {
  return send("POST", path(taskId, "/requeue"), { body: {} });
}

/** What happened until now was seen. */
export function dismissSince(): Promise<unknown> {
  return send("POST", "/visits", { body: {} });
}

export interface TaskEdit {
  title?: string;
  description?: string;
  priority?: Priority;
  assignee_id?: string | null;
  add_dependencies?: string[];
  remove_dependencies?: string[];
}

export function editTask(taskId: string, edit: TaskEdit, version: number): Promise<Answer> {
  return send<Answer>("PATCH", path(taskId), { body: edit, version });
}

export interface NewTask {
  title: string;
  description: string;
  assignee_id: string | null;
  priority: Priority;
  parent_task_id: string | null;
  status: "backlog" | "todo" | "in_progress";
  dependencies?: string[];
}

export function fileTask(projectId: string, wanted: NewTask, idempotencyKey: string): Promise<Answer> {
  return send<Answer>("POST", `/projects/${encodeURIComponent(projectId)}/tasks`, { body: wanted, idempotencyKey });
}

export function activateAgent(agentId: string): Promise<unknown> {
  return send("POST", `/agents/${encodeURIComponent(agentId)}/activate`, { body: {} });
}

export function resumeAgent(agentId: string): Promise<unknown> {
  return send("POST", `/agents/${encodeURIComponent(agentId)}/resume`, { body: {} });
}

/** Shows a card where it is put, asks the server, and puts it back where the server refuses (the refusal is thrown). */
export async function moveCard(
  client: QueryClient,
  projectId: string,
  card: BoardTask,
  to: TaskStatus,
  reason?: string,
): Promise<Task> {
  const key = board(projectId).queryKey;
  await client.cancelQueries({ queryKey: key });
  change(client, projectId, card.task_id, (each) => ({ ...each, status: to }));
  try {
    const { task } = await moveTask(card.task_id, to, reason, card.version);
    change(client, projectId, card.task_id, (each) => ({ ...each, status: task.status, version: task.version }));
    return task;
  } catch (error) {
    change(client, projectId, card.task_id, (each) => (each.status === to ? { ...each, status: card.status } : each));
    throw error;
  } finally {
    void client.invalidateQueries({ queryKey: key });
  }
}

/** Whether a move can be taken back, as the server says: only then `undo` is offered. */
export async function mayMove(client: QueryClient, taskId: string, to: TaskStatus): Promise<boolean> {
  const known = await client.fetchQuery(moves(taskId)).catch(() => null);
  return known?.moves.some((each) => each.status === to && each.allowed) ?? false;
}

function change(client: QueryClient, projectId: string, taskId: string, how: (card: BoardTask) => BoardTask): void {
  client.setQueryData<Board>(board(projectId).queryKey, (known) =>
    known === undefined
      ? known
      : { ...known, tasks: known.tasks.map((each) => (each.task_id === taskId ? how(each) : each)) },
  );
}
