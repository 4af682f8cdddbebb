// The head of a task: its title (edited where it stands), where it is, and what can be done with it.
import { useQuery } from "@tanstack/react-query";
import { Check, Copy, Ellipsis, MessageSquareText, Plus, ShieldQuestion } from "lucide-react";
import { useTranslation } from "react-i18next";

import { isFinal, type Task } from "@/api/model";
import { agents } from "@/api/queries";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { newTask } from "@/app/overlays";
import { AskWords, Badge, Button, Hint, IconButton, Menu, MenuItem, MenuLine, StatusBadge, StatusIcon } from "@/ui";
import { mainMove, useActing, verb, type Acting } from "@/views/task/acting";
import { EditableText } from "@/views/task/editable";

export function Head({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const acting = useActing(task);
  const pending = task.approval === "pending_approval";
  const known = useQuery(agents).data;
  const named = (id: string) => known?.find((each) => each.agent_id === id)?.name ?? id;
  const wish = task.requested_by === null || task.requested_by === task.created_by ? null : task.requested_by;
  const writes = useWrites();
  return (
    <header className="shrink-0 space-y-3">
      <EditableText task={task} field="title" />
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge status={task.status} />
        {task.approval === "rejected" && <Badge tone="red">{t("rejected")}</Badge>}
        {task.rejection_reason && <span className="min-w-0 break-words">{task.rejection_reason}</span>}
        <span className="flex-1" />
        {writes && <Acts task={task} acting={acting} pending={pending} />}
      </div>
      {pending && (
        <p className="flex items-center gap-2 rounded-md bg-accent-soft px-3 py-2 text-accent">
          <ShieldQuestion size={16} className="shrink-0" aria-hidden />
          {wish === null
            ? t("awaitsApproval", { who: named(task.created_by) })
            : t("awaitsApprovalFor", { who: named(task.created_by), person: named(wish) })}
        </p>
      )}
      <Asking task={task} acting={acting} />
    </header>
  );
}

/** What can be done with it: judging a request, the move that comes next, a word to the agent, and all the rest. */
function Acts({ task, acting, pending }: { task: Task; acting: Acting; pending: boolean }) {
  const { t } = useTranslation("task");
  const main = mainMove(task, acting.moves);
  const closed = isFinal(task);
  useKeys([
    { key: "a", words: t("act.approve"), inside: true, run: () => pending && acting.judges && acting.approve() },
    {
      key: "r",
      words: t("act.retry"),
      inside: true,
      run: () => (pending ? acting.judges && acting.reject() : main !== undefined && acting.move(main)),
    },
  ]);
  return (
    <>
      {pending && acting.judges && (
        <>
          <Button small look="primary" disabled={acting.busy} onClick={acting.approve}>
            <Check size={14} aria-hidden />
            {t("act.approve")}
          </Button>
          <Button small disabled={acting.busy} onClick={acting.reject}>
            {t("act.reject")}
          </Button>
        </>
      )}
      {!pending && main !== undefined && (
        <Button small look="primary" disabled={acting.busy} onClick={() => acting.move(main)}>
          {t(`act.${verb(task.status, main.status)}`)}
        </Button>
      )}
      {!closed && (
        <Button small onClick={acting.steer}>
          <MessageSquareText size={14} aria-hidden />
          {t("act.steer")}
        </Button>
      )}
      <More task={task} acting={acting} />
    </>
  );
}

/** Every move; those that are not allowed stay in sight, with the server's reason. */
function More({ task, acting }: { task: Task; acting: Acting }) {
  const { t } = useTranslation("task");
  return (
    <Menu
      trigger={
        <IconButton label={t("act.more")} className="size-8">
          <Ellipsis size={16} />
        </IconButton>
      }
    >
      {acting.moves
        .filter((each) => each.status !== task.status)
        .map((each) => (
          <Hint key={each.status} text={each.reason ?? t(`status.${each.status}`)}>
            <div>
              <MenuItem disabled={!each.allowed} onSelect={() => acting.move(each)}>
                <StatusIcon status={each.status} size={15} />
                {t(`act.${verb(task.status, each.status)}`)}
              </MenuItem>
              {!each.allowed && each.reason !== null && (
                <p className="max-w-64 px-2.5 pb-1.5 pl-9 text-xs text-faint">{each.reason}</p>
              )}
            </div>
          </Hint>
        ))}
      <MenuLine />
      {task.checks === "failed" && <MenuItem onSelect={acting.accept}>{t("act.accept")}</MenuItem>}
      <MenuItem onSelect={() => newTask({ projectId: task.project_id, parentId: task.task_id })}>
        <Plus size={15} aria-hidden />
        {t("act.subtask")}
      </MenuItem>
      <MenuItem onSelect={() => void navigator.clipboard.writeText(task.task_id)}>
        <Copy size={15} aria-hidden />
        {t("act.copyId")}
      </MenuItem>
    </Menu>
  );
}

function Asking({ task, acting: { asking, said, close } }: { task: Task; acting: Acting }) {
  const { t } = useTranslation("task");
  if (asking === null) return null;
  const action =
    asking.kind === "move"
      ? t(`act.${verb(task.status, asking.to)}`)
      : t(asking.kind === "reject" ? "act.reject" : "act.steer");
  return (
    <AskWords
      title={`${action}: ${task.title}`}
      label={t(asking.kind === "steer" ? "asks.steer" : "asks.reason")}
      action={action}
      required={asking.kind !== "move" || asking.required}
      danger={asking.kind !== "steer" && !(asking.kind === "move" && asking.to === "blocked")}
      onSaid={said}
      onClose={close}
    />
  );
}
