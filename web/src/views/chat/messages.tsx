// What was said, in the order in which it was: mine on the right, others' on the left, Toryo's in the middle.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, RotateCcw, Trash2 } from "lucide-react";
import { useMemo } from "react";

import type { Message } from "@/api/model";
import { task } from "@/api/queries";
import { RequestCard, isRequest } from "@/app/request-card";
import { TaskChip } from "@/app/task-chip";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Button, Prose, withoutTitles, wordsOf } from "@/ui";
import { drop, sayAgain, type Outgoing } from "@/views/chat/outbox";
import type { Between } from "@/views/chat/thread";

const TOGETHER_MS = 5 * 60_000;

export function Messages({ messages, me }: { messages: readonly Message[]; me: string | null }) {
  const asks = useMemo(() => askingMessages(messages), [messages]);
  return (
    <ol className="flex flex-col gap-1" aria-live="polite">
      {messages.map((each, place) => (
        <li key={each.sequence} className={goesOn(messages[place - 1], each) ? "" : "mt-3 first:mt-0"}>
          <One
            asks={asks.has(each.message_id)}
            message={each}
            mine={each.from_agent_id === me}
            begins={!goesOn(messages[place - 1], each)}
          />
        </li>
      ))}
    </ol>
  );
}

/** Of the same sender shortly after: no second head. */
export function goesOn(before: Message | undefined, each: Message): boolean {
  if (before === undefined || before.from_agent_id !== each.from_agent_id || each.kind === "system") return false;
  return Date.parse(each.created_at) - Date.parse(before.created_at) < TOGETHER_MS;
}

/** Of what Toryo says about a task the first may be that it was requested: the others tell what came of it. */
export function askingMessages(messages: readonly Message[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  for (const each of messages)
    if (each.kind === "system" && each.related_task_id !== null && !first.has(each.related_task_id))
      first.set(each.related_task_id, each.message_id);
  return new Set(first.values());
}

interface OneProps {
  message: Message;
  mine: boolean;
  begins: boolean;
  asks: boolean;
}

function One({ message, mine, begins, asks }: OneProps) {
  if (message.kind === "system") return <FromToryo message={message} asks={asks} />;
  return (
    <article className={`flex gap-2.5 ${mine ? "flex-row-reverse" : ""}`}>
      {!mine && (
        <span className="w-7 shrink-0 pt-0.5">
          {begins && <Avatar id={message.from_agent_id} name={message.from_name} size={28} />}
        </span>
      )}
      <div className={`flex min-w-0 max-w-[85%] flex-col gap-1 ${mine ? "items-end" : "items-start"}`}>
        {begins && <Head message={message} mine={mine} />}
        <div className={`max-w-full rounded-xl px-3.5 py-2 ${mine ? "bg-accent-soft" : "border border-line bg-panel"}`}>
          <Prose text={message.content} />
        </div>
        {message.related_task_id !== null && <About taskId={message.related_task_id} />}
      </div>
    </article>
  );
}

function Head({ message, mine }: { message: Message; mine: boolean }) {
  const { t } = useTranslation("chat");
  return (
    <header className="flex items-baseline gap-2 text-xs text-faint">
      <span className="font-medium text-soft">{mine ? t("you") : message.from_name}</span>
      <Ago at={message.created_at} />
    </header>
  );
}

/** A request is shown as what it is now, with its answers or with what was answered, and never as commands to type. */
function FromToryo({ message, asks }: { message: Message; asks: boolean }) {
  const { t } = useTranslation("chat");
  const taskId = asks ? message.related_task_id : null;
  const about = useQuery({ ...task(taskId ?? ""), enabled: taskId !== null }).data;
  if (about !== undefined && isRequest(about))
    return (
      <div className="mx-auto w-full max-w-xl space-y-1">
        <p className="text-xs text-faint">
          {t("system")} · <Ago at={message.created_at} />
        </p>
        <RequestCard task={about} keys />
      </div>
    );
  return (
    <div className="mx-auto flex max-w-[90%] gap-2 rounded-lg border border-line bg-sunken px-3 py-2 text-[13px] text-soft">
      <CircleAlert size={16} className="mt-0.5 shrink-0 text-amber" aria-hidden />
      <div className="min-w-0">
        <p className="text-xs text-faint">
          {t("system")} · <Ago at={message.created_at} />
        </p>
        <Prose text={withoutTitles(message.content)} />
      </div>
    </div>
  );
}

function About({ taskId }: { taskId: string }) {
  return (
    <span className="max-w-full text-xs">
      <TaskChip taskId={taskId} />
    </span>
  );
}

/** What I have written and the server has not taken yet. */
export function Pending({ all, between, me }: { all: readonly Outgoing[]; between: Between; me: string }) {
  const { t } = useTranslation("chat");
  return (
    <ul className="flex flex-col gap-2 empty:hidden">
      {all.map((each) => (
        <li key={each.key} className="flex flex-col items-end gap-1">
          <div
            className={`max-w-[85%] rounded-xl px-3.5 py-2 ${each.state === "failed" ? "border border-red bg-red-soft" : "bg-accent-soft opacity-70"}`}
          >
            <Prose text={each.content} />
          </div>
          {each.state === "sending" ? (
            <span className="text-xs text-faint">{t("sending")}</span>
          ) : (
            <NotSent one={each} between={between} me={me} />
          )}
        </li>
      ))}
    </ul>
  );
}

function NotSent({ one, between, me }: { one: Outgoing; between: Between; me: string }) {
  const { t } = useTranslation("chat");
  const { what, next } = wordsOf(one.error, t("away"));
  return (
    <div role="alert" className="flex max-w-[85%] flex-col items-end gap-1 text-right">
      <p className="text-xs text-red">
        {t("notSent", { reason: what })} {next}
      </p>
      <div className="flex gap-1">
        <Button small onClick={() => void sayAgain(between, one, me)}>
          <RotateCcw size={13} aria-hidden />
          {t("again")}
        </Button>
        <Button small look="quiet" onClick={() => drop(between, one.key)}>
          <Trash2 size={13} aria-hidden />
          {t("discard")}
        </Button>
      </div>
    </div>
  );
}
