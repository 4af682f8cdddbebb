// Carrying out one act on all marked tasks, and taking it back where the server allows that.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { WANTS_REASON, editTask, mayMove, moveTask } from "@/api/actions";
import type { Board, BoardTask, Priority, Task, TaskStatus } from "@/api/model";
import { board } from "@/api/queries";
import { changeCard } from "@/api/tasks";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

import { onEach, type Outcome } from "./on-each";

/** What is shown at once, what the server is asked, and how it is asked to take that back. */
interface Deed {
  change: Partial<Pick<BoardTask, "status" | "assignee_id" | "priority">>;
  ask: Ask;
  back: (before: BoardTask, now: Task) => Promise<{ task: Task }>;
  /** Those that can be taken back, of those that were done. */
  revocable?: (done: readonly BoardTask[]) => Promise<readonly BoardTask[]>;
}

type Ask = (task: BoardTask) => Promise<{ task: Task }>;

export function useCarryOut(projectId: string, tasks: readonly BoardTask[], onKeep: (ids: string[]) => void) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const [progress, setProgress] = useState<{ finished: number; total: number } | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const { queryKey } = board(projectId);

  async function run(all: readonly BoardTask[], change: (task: BoardTask) => Deed["change"], ask: Ask) {
    const told = (finished: number) => setProgress({ finished, total: all.length });
    told(0);
    try {
      return await onEach(all, (task) => changeCard(client, projectId, task, change(task), () => ask(task)), told);
    } finally {
      setProgress(null);
      void client.invalidateQueries({ queryKey });
    }
  }

  async function carryOut({ change, ask, back, revocable }: Deed): Promise<void> {
    const ended = await run(tasks, () => change, ask);
    onKeep(ended.refused.map(({ task }) => task.task_id));
    if (ended.refused.length > 0) setOutcome(ended);
    if (ended.done.length === 0) return;
    const mine = revocable === undefined ? ended.done : await revocable(ended.done);
    const done = t("bulk.done", { count: ended.done.length });
    toast.done(done, mine.length > 0 ? () => void undo(mine, ended, { change, back }) : undefined);
  }

  async function undo(mine: readonly BoardTask[], ended: Outcome, { change, back }: Pick<Deed, "change" | "back">) {
    const before = new Map(mine.map((each) => [each.task_id, each]));
    const now = new Map(ended.now.map((each) => [each.task_id, each]));
    const cards = client.getQueryData<Board>(queryKey)?.tasks ?? [];
    const undone = await run(
      cards.filter((each) => before.has(each.task_id)),
      (card) => partOf(before.get(card.task_id) ?? card, change),
      (card) => back(before.get(card.task_id) ?? card, now.get(card.task_id) as Task),
    );
    if (undone.refused.length > 0) setOutcome(undone);
    if (undone.done.length > 0) toast.done(t("bulk.undone", { count: undone.done.length }));
  }

  return {
    progress,
    outcome,
    forget: () => setOutcome(null),
    move: (status: TaskStatus, reason?: string) =>
      void carryOut({
        change: { status },
        ask: (task) => moveTask(task.task_id, status, reason, task.version),
        back: (before) => moveTask(before.task_id, before.status, reasonOf(before, t("bulk.undoReason"))),
        revocable: (done) => revocable(done, (task) => mayMove(client, task.task_id, task.status)),
      }),
    assign: (assignee_id: string | null) =>
      void carryOut({
        change: { assignee_id },
        ask: (task) => editTask(task.task_id, { assignee_id }, task.version),
        back: (before, now) => editTask(before.task_id, { assignee_id: before.assignee_id }, now.version),
      }),
    rank: (priority: Priority) =>
      void carryOut({
        change: { priority },
        ask: (task) => editTask(task.task_id, { priority }, task.version),
        back: (before, now) => editTask(before.task_id, { priority: before.priority }, now.version),
      }),
  };
}

/** Of what was moved from the same status, one is asked for all: the rules are about statuses. */
async function revocable(
  done: readonly BoardTask[],
  may: (task: BoardTask) => Promise<boolean>,
): Promise<readonly BoardTask[]> {
  const firsts = new Map(done.toReversed().map((each) => [each.status, each]));
  const asked = await Promise.all([...firsts].map(async ([status, task]) => ((await may(task)) ? status : null)));
  return done.filter((each) => asked.includes(each.status));
}

/** What a task was in the things that were changed. */
function partOf(task: BoardTask, changed: Deed["change"]): Deed["change"] {
  return Object.fromEntries(Object.keys(changed).map((name) => [name, task[name as keyof BoardTask]]));
}

function reasonOf(task: BoardTask, otherwise: string): string | undefined {
  return WANTS_REASON.includes(task.status) ? (task.blocked_reason ?? otherwise) : undefined;
}
