// What a person does with a task: which moves there are is asked of the server, and so are their words of refusal.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { WANTS_REASON, approveTask, confirmChecks, mayMove, moveTask, rejectTask, steerTask } from "@/api/actions";
import type { Move, Task, TaskStatus } from "@/api/model";
import { moves, task as taskQuery } from "@/api/queries";
import { useToast } from "@/ui";

export type Asking = { kind: "move"; to: TaskStatus; required: boolean } | { kind: "reject" } | { kind: "steer" };

export interface Acting {
  moves: Move[];
  /** Whether this person may approve or reject it. */
  judges: boolean;
  asking: Asking | null;
  busy: boolean;
  move: (move: Move) => void;
  approve: () => void;
  reject: () => void;
  accept: () => void;
  steer: () => void;
  /** Throws what was refused: the dialog that asked for words shows it, and keeps them. */
  said: (words: string) => Promise<void>;
  close: () => void;
}

export function useActing(task: Task): Acting {
  const { t } = useTranslation("task");
  const client = useQueryClient();
  const toast = useToast();
  const known = useQuery(moves(task.task_id)).data;
  const [asking, setAsking] = useState<Asking | null>(null);
  const [busy, setBusy] = useState(false);

  async function act(run: () => Promise<{ task: Task }>, words: (done: { task: Task }) => string, undo?: () => void) {
    setBusy(true);
    try {
      const done = await run();
      client.setQueryData(taskQuery(task.task_id).queryKey, done.task);
      const back = undo !== undefined && (await mayMove(client, task.task_id, task.status));
      toast.done(words(done), back ? undo : undefined);
    } finally {
      setBusy(false);
      await client.invalidateQueries({ queryKey: ["task", task.task_id] });
      await client.invalidateQueries({ queryKey: ["board", task.project_id] });
    }
  }

  const moved = ({ task: now }: { task: Task }) =>
    t("done.moved", { status: t(`status.${now.status}`), title: now.title });
  const judged = () => t("done.judged", { title: task.title });

  function moveTo(to: TaskStatus, reason?: string) {
    const undo = () =>
      void act(() => moveTask(task.task_id, task.status, task.blocked_reason ?? undefined), moved).catch(toast.failed);
    return act(() => moveTask(task.task_id, to, reason, task.version), moved, undo);
  }

  async function said(words: string) {
    if (asking?.kind === "move") await moveTo(asking.to, words === "" ? undefined : words);
    if (asking?.kind === "reject") await act(() => rejectTask(task.task_id, words), judged);
    if (asking?.kind === "steer") await steer(words);
  }

  function steer(words: string) {
    let told = "";
    return act(
      () =>
        steerTask(task.task_id, words).then((answer) => {
          told = answer.warnings?.[0] ?? t("done.steered", { to: answer.delivered_to });
          return answer;
        }),
      () => told,
    );
  }

  return {
    moves: known?.moves ?? [],
    judges: known?.may_judge ?? false,
    asking,
    busy,
    move: (each) =>
      WANTS_REASON.includes(each.status)
        ? setAsking({ kind: "move", to: each.status, required: each.needs_reason })
        : void moveTo(each.status).catch(toast.failed),
    approve: () => void act(() => approveTask(task.task_id, task.version), judged).catch(toast.failed),
    reject: () => setAsking({ kind: "reject" }),
    accept: () => void act(() => confirmChecks(task.task_id, true), judged).catch(toast.failed),
    steer: () => setAsking({ kind: "steer" }),
    said,
    close: () => setAsking(null),
  };
}

/** What a move is called, from where it begins. */
export function verb(from: TaskStatus, to: TaskStatus): string {
  if (to === "todo") return from === "failed" ? "retry" : from === "in_progress" ? "reopen" : "todo";
  if (to === "in_progress") return from === "blocked" ? "unblock" : "start";
  const VERBS = { completed: "complete", failed: "fail", blocked: "block", cancelled: "cancel", backlog: "backlog" };
  return VERBS[to];
}

/** The move that is offered first, if there is one. */
export function mainMove(task: Task, all: readonly Move[]): Move | undefined {
  const WANTED: Partial<Record<TaskStatus, TaskStatus>> = {
    backlog: "todo",
    todo: "in_progress",
    blocked: "in_progress",
    failed: "todo",
  };
  return all.find((each) => each.allowed && each.status === WANTED[task.status]);
}
