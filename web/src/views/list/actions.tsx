// What can be done with the marked tasks at once. A refusal is told with its reason; the rest is done.
import { useQueryClient } from "@tanstack/react-query";
import { ArrowRightLeft, Ban, Flag, UserRound, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { WANTS_REASON, editTask, moveTask } from "@/api/actions";
import { STATUSES, type Agent, type BoardTask, type Priority, type TaskStatus } from "@/api/model";
import { board } from "@/api/queries";
import { changeCard } from "@/api/tasks";
import {
  AskWords,
  Avatar,
  Button,
  Dialog,
  IconButton,
  Menu,
  MenuItem,
  PriorityIcon,
  StatusIcon,
  useToast,
  wordsOf,
} from "@/ui";

import { onEach, type Outcome } from "./bulk";
import { PRIORITIES } from "./filter";

interface BulkProps {
  projectId: string;
  tasks: readonly BoardTask[];
  agents: readonly Agent[];
  onNone: () => void;
  onKeep: (ids: string[]) => void;
}

export function Bulk({ projectId, tasks, agents, onNone, onKeep }: BulkProps) {
  const { t } = useTranslation("list");
  const client = useQueryClient();
  const toast = useToast();
  const [finished, setFinished] = useState<number | null>(null);
  const [asking, setAsking] = useState<TaskStatus | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);

  async function carryOut(change: Partial<BoardTask>, ask: (task: BoardTask) => ReturnType<typeof editTask>) {
    setFinished(0);
    const ended = await onEach(
      tasks,
      (task) => changeCard(client, projectId, task, change, () => ask(task)),
      setFinished,
    );
    setFinished(null);
    void client.invalidateQueries({ queryKey: board(projectId).queryKey });
    onKeep(ended.refused.map(({ task }) => task.task_id));
    if (ended.refused.length > 0) setOutcome(ended);
    else toast.done(t("bulk.done", { count: ended.done.length }));
  }
  const move = (status: TaskStatus, reason?: string) =>
    void carryOut({ status }, (task) => moveTask(task.task_id, status, reason, task.version));
  const choose = (status: TaskStatus) => (WANTS_REASON.includes(status) ? setAsking(status) : move(status));
  const assign = (assignee_id: string | null) =>
    void carryOut({ assignee_id }, (task) => editTask(task.task_id, { assignee_id }, task.version));
  const rank = (priority: Priority) =>
    void carryOut({ priority }, (task) => editTask(task.task_id, { priority }, task.version));

  return (
    <>
      {tasks.length > 0 && (
        <div
          role="toolbar"
          aria-label={t("selected", { count: tasks.length })}
          className="absolute inset-x-3 bottom-3 z-20 mx-auto flex max-w-fit flex-wrap items-center gap-1.5 rounded-xl border border-line-strong bg-panel p-1.5 pl-3 shadow-[var(--shadow)]"
        >
          <span className="mr-2 font-medium tabular-nums" aria-live="polite">
            {finished === null
              ? t("selected", { count: tasks.length })
              : t("bulk.running", { finished, total: tasks.length })}
          </span>
          <Menu
            trigger={<BulkButton icon={<ArrowRightLeft size={14} />} words={t("bulk.move")} busy={finished !== null} />}
          >
            {STATUSES.filter((each) => each !== "cancelled").map((each) => (
              <MenuItem key={each} onSelect={() => choose(each)}>
                <span aria-hidden>
                  <StatusIcon status={each} />
                </span>
                {t(`status.${each}`, { ns: "translation" })}
              </MenuItem>
            ))}
          </Menu>
          <Menu
            trigger={<BulkButton icon={<UserRound size={14} />} words={t("bulk.assign")} busy={finished !== null} />}
          >
            <div className="max-h-72 overflow-auto">
              {agents.map((each) => (
                <MenuItem key={each.agent_id} onSelect={() => assign(each.agent_id)}>
                  <Avatar id={each.agent_id} name={each.name} size={18} />
                  {each.name}
                </MenuItem>
              ))}
              <MenuItem onSelect={() => assign(null)}>{t("nobody")}</MenuItem>
            </div>
          </Menu>
          <Menu trigger={<BulkButton icon={<Flag size={14} />} words={t("bulk.priority")} busy={finished !== null} />}>
            {PRIORITIES.map((each) => (
              <MenuItem key={each} onSelect={() => rank(each)}>
                <span aria-hidden>
                  <PriorityIcon priority={each} />
                </span>
                {t(`priority.${each}`, { ns: "translation" })}
              </MenuItem>
            ))}
          </Menu>
          <Button small look="danger" disabled={finished !== null} onClick={() => choose("cancelled")}>
            <Ban size={14} aria-hidden />
            {t("bulk.cancel")}
          </Button>
          <IconButton label={t("unselect")} className="size-7" onClick={onNone}>
            <X size={15} />
          </IconButton>
        </div>
      )}
      {asking !== null && (
        <AskWords
          required
          title={t("bulk.reasonTitle", { status: t(`status.${asking}`, { ns: "translation" }) })}
          label={t("bulk.reasonText", { count: tasks.length })}
          action={t("bulk.go")}
          danger={asking === "cancelled"}
          onSaid={(reason) => move(asking, reason)}
          onClose={() => setAsking(null)}
        />
      )}
      <Refusals outcome={outcome} onClose={() => setOutcome(null)} />
    </>
  );
}

function BulkButton({ icon, words, busy, ...rest }: { icon: React.ReactNode; words: string; busy: boolean }) {
  return (
    <Button small look="quiet" disabled={busy} {...rest}>
      <span aria-hidden>{icon}</span>
      {words}
    </Button>
  );
}

function Refusals({ outcome, onClose }: { outcome: Outcome | null; onClose: () => void }) {
  const { t } = useTranslation("list");
  return (
    <Dialog
      open={outcome !== null}
      onClose={onClose}
      wide
      title={t("bulk.refusedTitle", { count: outcome?.refused.length ?? 0 })}
      description={t("bulk.refusedText", { done: outcome?.done.length ?? 0 })}
    >
      <ul className="divide-y divide-line">
        {outcome?.refused.map(({ task, error }) => {
          const { what, next } = wordsOf(error, t("error.away", { ns: "translation" }));
          return (
            <li key={task.task_id} className="flex gap-3 py-2.5">
              <span className="mt-0.5">
                <StatusIcon status={task.status} />
              </span>
              <div className="min-w-0">
                <p className="font-medium break-words">{task.title}</p>
                <p className="break-words text-red">{what}</p>
                {next && <p className="break-words text-soft">{next}</p>}
              </div>
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
