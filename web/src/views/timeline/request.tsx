// One request as a tree: every task that it caused, with time, creator, attempts, messages and events.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { MessagesSquare, RotateCcw } from "lucide-react";
import { useState } from "react";

import type { Trace, TraceTask } from "@/api/model";
import { history } from "@/api/queries";
import { trace } from "@/api/stories";
import { useNames } from "@/app/names";
import { sentence } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Dialog, Elapsed, Failed, Loading, StatusIcon, useNow } from "@/ui";

interface RequestProps {
  id: string;
  onOpen: (taskId: string) => void;
  onClose: () => void;
}

export function Request({ id, onOpen, onClose }: RequestProps) {
  const { t } = useTranslation("timeline");
  const known = useQuery(trace(id));
  return (
    <Dialog open onClose={onClose} side title={t("request")} description={t("requestText")}>
      {known.isPending ? (
        <Loading />
      ) : known.isError ? (
        <Failed error={known.error} />
      ) : (
        <Tree trace={known.data} onOpen={onOpen} />
      )}
    </Dialog>
  );
}

export function Tree({
  trace: { tasks, started_at, ended_at },
  onOpen,
}: {
  trace: Trace;
  onOpen: RequestProps["onOpen"];
}) {
  const now = useNow();
  const from = Date.parse(started_at ?? "") || now;
  const to = ended_at === null ? now : Date.parse(ended_at);
  return (
    <div className="space-y-4">
      <ul className="space-y-1">
        {tasks.map((each) => (
          <Knot key={each.task_id} task={each} from={from} to={Math.max(to, from + 1)} now={now} onOpen={onOpen} />
        ))}
      </ul>
    </div>
  );
}

interface KnotProps {
  task: TraceTask;
  from: number;
  to: number;
  now: number;
  onOpen: RequestProps["onOpen"];
}

function Knot({ task, from, to, now, onOpen }: KnotProps) {
  const { t } = useTranslation("timeline");
  const names = useNames(task.project_id);
  return (
    <li>
      <div className="rounded-md px-1.5 py-1 hover:bg-sunken">
        <div className="flex items-center gap-2">
          <StatusIcon status={task.status} />
          <button
            type="button"
            onClick={() => onOpen(task.task_id)}
            className="min-w-0 flex-1 truncate text-left font-medium hover:underline"
          >
            {task.title}
          </button>
          {task.started_at !== null && (
            <span className="text-xs text-faint">
              <Elapsed from={task.started_at} to={task.completed_at} />
            </span>
          )}
        </div>
        <Track task={task} from={from} to={to} now={now} />
        <p className="flex flex-wrap gap-x-3 text-xs text-faint">
          <span>{task.assignee_id === null ? (task.agent_type ?? t("nobody")) : names.agent(task.assignee_id)}</span>
          {task.attempts.length > 1 && (
            <span className="flex items-center gap-1">
              <RotateCcw size={11} aria-hidden />
              {t("attempts", { count: task.attempts.length })}
            </span>
          )}
          {task.conversations.map((each) => (
            <span key={each.conversation_id} className="flex items-center gap-1">
              <MessagesSquare size={11} aria-hidden />
              {t("talked", { with: names.agent(each.with), count: each.turns })}
            </span>
          ))}
        </p>
        <Events task={task} />
      </div>
      {task.tasks.length > 0 && (
        <ul className="ml-3 space-y-1 border-l border-line pl-3">
          {task.tasks.map((each) => (
            <Knot key={each.task_id} task={each} from={from} to={to} now={now} onOpen={onOpen} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** When within the whole request: waiting is thin, work is thick. */
function Track({ task, from, to, now }: Omit<KnotProps, "onOpen">) {
  const share = (at: number) => `${Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100))}%`;
  const made = Date.parse(task.created_at);
  const started = task.started_at === null ? null : Date.parse(task.started_at);
  const ended = endOf(task, now);
  return (
    <div aria-hidden className="relative my-1 h-1.5 rounded-full bg-sunken">
      <span
        className="absolute top-[2px] h-0.5 bg-line-strong"
        style={{ left: share(made), right: `calc(100% - ${share(started ?? ended)})` }}
      />
      {started !== null && task.status === "blocked" && (
        <span
          data-blocked
          className="absolute top-[2px] h-0.5 bg-amber"
          style={{ left: share(ended), right: `calc(100% - ${share(now)})` }}
        />
      )}
      {started !== null && (
        <span
          data-worked
          className={`absolute inset-y-0 min-w-1 rounded-full ${task.status === "failed" ? "bg-red" : task.status === "completed" ? "bg-green" : "bg-blue"}`}
          style={{ left: share(started), right: `calc(100% - ${share(ended)})` }}
        />
      )}
    </div>
  );
}

/** Until when it was worked on: what is blocked or put back is not worked on from then on. */
export function endOf(task: Pick<TraceTask, "status" | "completed_at" | "moved_at">, now: number): number {
  if (task.completed_at !== null) return Date.parse(task.completed_at);
  return task.status === "in_progress" ? now : Date.parse(task.moved_at);
}

function Events({ task }: { task: TraceTask }) {
  const { t } = useTranslation("timeline");
  const [open, setOpen] = useState(false);
  if (task.events.length === 0) return null;
  return (
    <details className="text-xs text-soft" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer">{t("events", { count: task.events.length })}</summary>
      {open && <Sentences task={task} />}
    </details>
  );
}

function Sentences({ task }: { task: TraceTask }) {
  const { t, i18n } = useTranslation("audit");
  const names = useNames(task.project_id);
  const found = useInfiniteQuery(history({ task_id: task.task_id }));
  const all = found.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <ol className="mt-1 space-y-0.5">
      {all.toReversed().map((each) => (
        <li key={each.sequence} className="flex gap-2">
          <time dateTime={each.at} className="shrink-0 text-faint tabular-nums">
            {new Date(each.at).toLocaleTimeString(i18n.language)}
          </time>
          <span className="min-w-0 break-words">{sentence(each, names, t)}</span>
        </li>
      ))}
    </ol>
  );
}
