// What a person does with tasks and agents: one function for each verb. A move is shown at once, and taken back where
// the server refuses it.
import type { QueryClient } from "@tanstack/react-query";

import { api } from "@/api/client";
import type { Board, BoardTask, Task, TaskStatus } from "@/api/model";
import { board, moves } from "@/api/queries";
import { inProject, ofAgent, ofSchedule, ofTask, ofWebhook, type BodyOf } from "@/api/routes";

/** Statuses that say why: the server asks for a reason. */
export const WANTS_REASON: readonly TaskStatus[] = ["blocked", "failed", "cancelled"];

export function moveTask(taskId: string, status: TaskStatus, reason?: string, version?: number) {
  return api.post("/tasks/{task_id}/move", {
    ...ofTask(taskId),
    body: { status, reason: reason || undefined },
    version,
  });
}

/** Only as it was seen: another version is a conflict. */
export function approveTask(taskId: string, version: number) {
  return api.post("/tasks/{task_id}/approve", { ...ofTask(taskId), version });
}

export function rejectTask(taskId: string, reason: string) {
  return api.post("/tasks/{task_id}/reject", { ...ofTask(taskId), body: { reason: reason || undefined } });
}

/** `warnings`: why what was said changes nothing. */
export function steerTask(taskId: string, text: string) {
  return api.post("/tasks/{task_id}/steer", { ...ofTask(taskId), body: { text } });
}

export function addToMergeQueue(taskId: string) {
  return api.post("/tasks/{task_id}/merge-queue", { ...ofTask(taskId), body: {} });
}

export function removeFromMergeQueue(taskId: string) {
  return api.delete("/tasks/{task_id}/merge-queue", ofTask(taskId));
}

/** Before this task; without one, at the end. */
export function moveInMergeQueue(taskId: string, before?: string) {
  return api.post("/tasks/{task_id}/merge-queue/move", { ...ofTask(taskId), body: { before } });
}

export function pauseMergeQueue(projectId: string) {
  return api.post("/projects/{project_id}/merge-queue/pause", inProject(projectId));
}

export function resumeMergeQueue(projectId: string) {
  return api.post("/projects/{project_id}/merge-queue/resume", inProject(projectId));
}

/** All of them, or none. */
export function answerQuestions(taskId: string, answers: BodyOf<"post", "/tasks/{task_id}/answers">["answers"]) {
  return api.post("/tasks/{task_id}/answers", { ...ofTask(taskId), body: { answers } });
}

/** Its agent decides itself. */
export function withdrawQuestion(questionId: string) {
  return api.post("/questions/{question_id}/withdraw", { path: { question_id: questionId } });
}

export function confirmChecks(taskId: string, passed: boolean, message?: string) {
  const body = { passed, message: message || undefined };
  return api.post("/tasks/{task_id}/checks/confirm", { ...ofTask(taskId), body });
}

/** A file that a check has left; the result of the check says who deleted it. */
export function deleteArtifact(taskId: string, artifactId: string) {
  return api.delete("/tasks/{task_id}/artifacts/{artifact_id}", { path: { task_id: taskId, artifact_id: artifactId } });
}

export function requeueTask(taskId: string) {
  return api.post("/tasks/{task_id}/requeue", ofTask(taskId));
}

/** What happened until now was seen. */
export function dismissSince() {
  return api.post("/visits");
}

export type TaskEdit = BodyOf<"patch", "/tasks/{task_id}">;

export function editTask(taskId: string, edit: TaskEdit, version: number) {
  return api.patch("/tasks/{task_id}", { ...ofTask(taskId), body: edit, version });
}

export type NewTask = BodyOf<"post", "/projects/{project_id}/tasks">;

export function fileTask(projectId: string, wanted: NewTask, idempotencyKey: string) {
  return api.post("/projects/{project_id}/tasks", { ...inProject(projectId), body: wanted, idempotencyKey });
}

export function resumeSchedule(scheduleId: string) {
  return api.post("/schedules/{schedule_id}/resume", ofSchedule(scheduleId));
}

export function resumeWebhook(webhookId: string) {
  return api.post("/webhooks/{webhook_id}/resume", ofWebhook(webhookId));
}

export function activateAgent(agentId: string) {
  return api.post("/agents/{agent_id}/activate", ofAgent(agentId));
}

export function resumeAgent(agentId: string) {
  return api.post("/agents/{agent_id}/resume", ofAgent(agentId));
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
