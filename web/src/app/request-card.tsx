// A task that an agent has requested: what it is and why, what the work has cost so far, and the two answers. Once it was
// answered it says who did, and when; it never asks again.
import { useQuery } from "@tanstack/react-query";
import { Check, ShieldCheck, ShieldQuestion, ShieldX } from "lucide-react";
import type { ReactNode } from "react";

import type { Task } from "@/api/model";
import { agents, me as whoIAm, needs, usage } from "@/api/queries";
import { useActing, type Acting } from "@/app/acting";
import { useOpenTask } from "@/app/going";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { RequestTexts } from "@/app/request-texts";
import { actNamed, offers } from "@/app/task-acts";
import { useTranslation } from "@/i18n/use-words";
import { AskWords, Badge, Button, Kbd, Prose, StatusIcon, money } from "@/ui";

/** Whether somebody asked for it, or was asked about it. */
export const isRequest = (task: Task): boolean => task.approval === "pending_approval" || task.judged !== null;

interface RequestCardProps {
  task: Task;
  /** Its keys are a and r here; elsewhere somebody else has them. */
  keys?: boolean;
  /** The title stands above it already. */
  untitled?: boolean;
}

export function RequestCard({ task, keys = false, untitled = false }: RequestCardProps) {
  const { t } = useTranslation();
  const acting = useActing(task);
  const open = useOpenTask();
  const pending = task.approval === "pending_approval";
  return (
    <section
      aria-label={t("request.title")}
      className={`w-full space-y-2 rounded-lg border bg-panel p-3 text-left ${pending ? "border-amber" : "border-line"}`}
    >
      <header className="flex flex-wrap items-center gap-2">
        {pending ? (
          <Badge tone="amber">
            <ShieldQuestion size={13} aria-hidden />
            {t("request.title")}
          </Badge>
        ) : (
          <Answered task={task} />
        )}
        {pending && <Asker task={task} />}
      </header>
      {!untitled && (
        <button
          type="button"
          onClick={() => open(task.task_id)}
          className="flex max-w-full items-center gap-1.5 text-left font-medium hover:underline"
        >
          <StatusIcon status={task.status} size={15} />
          <span className="min-w-0 break-words">{task.title}</span>
        </button>
      )}
      {pending && <Why task={task} untitled={untitled} />}
      {pending && <Answers task={task} acting={acting} keys={keys} />}
      <Reason task={task} acting={acting} />
    </section>
  );
}

function useNameOf(): (id: string | null) => string {
  const { t } = useTranslation();
  const known = useQuery(agents).data;
  const mine = useQuery(whoIAm).data?.person_id;
  return (id) => {
    if (id === null) return t("app.nobody");
    if (id === mine) return t("request.you");
    return known?.find((each) => each.agent_id === id)?.name ?? id;
  };
}

function Asker({ task }: { task: Task }) {
  const { t } = useTranslation();
  const named = useNameOf();
  const wish = task.requested_by === task.created_by ? null : task.requested_by;
  const said = { asker: named(task.created_by), assignee: named(task.assignee_id) };
  return (
    <p className="min-w-0 text-[13px] break-words text-soft">
      {wish === null ? t("request.asks", said) : t("request.asksFor", { ...said, person: named(wish) })}
    </p>
  );
}

/** All that is approved with it, and what the work it belongs to has cost until now. */
function Why({ task, untitled }: { task: Task; untitled: boolean }) {
  const { t } = useTranslation();
  const asked = useQuery(needs(task.project_id)).data;
  const whole = asked?.find((each) => each.kind === "approval" && each.task_id === task.task_id)?.request;
  const from = task.parent_task_id ?? task.task_id;
  const sums = useQuery(usage({ task_id: from, by: ["agent", "model"] })).data?.totals;
  const cost: ReactNode =
    sums === undefined || sums.launches === 0 || sums.cost_usd === null
      ? null
      : t(task.parent_task_id === null ? "request.cost" : "request.costOfParent", { cost: money(sums.cost_usd) });
  return (
    <div className="space-y-1.5 text-[13px]">
      {whole ? (
        <RequestTexts request={untitled ? { ...whole, description: "" } : whole} />
      ) : (
        task.description !== "" && !untitled && <Prose text={task.description} className="max-h-48 overflow-auto" />
      )}
      {cost !== null && <p className="text-faint">{cost}</p>}
    </div>
  );
}

function Answers({ task, acting, keys }: { task: Task; acting: Acting; keys: boolean }) {
  const { t } = useTranslation();
  const writes = useWrites();
  const may = (["approve", "reject"] as const).filter((name) => offers(actNamed(name), task, acting.verdict, writes));
  useKeys(
    keys
      ? may.map((name) => ({ key: actNamed(name).key ?? "", words: t(`act.${name}`), run: () => acting.act(name) }))
      : [],
  );
  if (may.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {may.map((name) => (
        <Button
          key={name}
          small
          look={name === "approve" ? "primary" : "plain"}
          disabled={acting.busy}
          onClick={() => acting.act(name)}
        >
          {name === "approve" ? <Check size={14} aria-hidden /> : <ShieldX size={14} aria-hidden />}
          {t(`act.${name}`)}
          <span aria-hidden className="hidden sm:inline">
            <Kbd>{actNamed(name).key}</Kbd>
          </span>
        </Button>
      ))}
    </div>
  );
}

/** Approved by you, 17:22. */
function Answered({ task }: { task: Task }) {
  const { t, i18n } = useTranslation();
  const named = useNameOf();
  if (task.judged === null) return null;
  const { by, at, reason } = task.judged;
  const approved = task.approval === "approved";
  const Icon = approved ? ShieldCheck : ShieldX;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-1.5 text-[13px]">
      <Icon size={15} className={approved ? "text-green" : "text-red"} aria-hidden />
      <span>
        {t(approved ? "request.approved" : "request.rejected", { who: named(by), at: clock(at, i18n.language) })}
      </span>
      {reason && <span className="break-words text-soft">{reason}</span>}
    </p>
  );
}

/** The time of day; of another day with its date. */
function clock(at: string, language: string): string {
  const when = new Date(at);
  const today = when.toDateString() === new Date().toDateString();
  const day = today ? {} : ({ month: "short", day: "numeric" } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(
    when,
  );
}

function Reason({ task, acting: { asking, said, close } }: { task: Task; acting: Acting }) {
  const { t } = useTranslation();
  if (asking === null) return null;
  const action = t(`act.${asking.name}`);
  return (
    <AskWords
      title={`${action}: ${task.title}`}
      label={t("asks.reason")}
      action={action}
      required={asking.required}
      danger={actNamed(asking.name).danger ?? false}
      onSaid={said}
      onClose={close}
    />
  );
}
