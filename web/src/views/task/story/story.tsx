// One task's story: everything that happened to it and below it, on one time axis; three looks at the same answer.
import { useQuery } from "@tanstack/react-query";
import { Route } from "lucide-react";
import { useMemo, useState } from "react";

import type { Task, Trace, TraceTask } from "@/api/model";
import { story } from "@/api/stories";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { Failed, Loading, compact, duration, money, useNow } from "@/ui";

import { Brief } from "./brief";
import { criticalIds, criticalPath } from "./critical";
import { Lines } from "./lines";
import { AsJson } from "./json";
import { overAt, sumOf, taskIn } from "./rows";
import type { Tell } from "./words-of";

const LOOKS = ["compact", "timeline", "json"] as const;
type Look = (typeof LOOKS)[number];

export function Story({ task }: { task: Task }) {
  const found = useQuery(story(task.task_id));
  if (found.isPending) return <Loading rows={6} />;
  if (found.data === undefined) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const whole = taskIn(found.data.tasks, task.task_id);
  return whole === undefined ? null : <Whole trace={found.data} task={whole} />;
}

function Whole({ trace, task }: { trace: Trace; task: TraceTask }) {
  const { t } = useTranslation("task");
  const [look, setLook] = useState<Look>("timeline");
  const tell = useTell(task);
  const over = overAt(task);
  const now = useNow();
  const until = over ?? Math.floor(now / 5000) * 5000; // while it goes on, bars grow every few seconds
  const critical = useMemo(() => criticalIds(criticalPath(task, until)), [task, until]);
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div
          role="group"
          aria-label={t("story.look.label")}
          className="flex rounded-md border border-line-strong p-0.5"
        >
          {LOOKS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={look === each}
              onClick={() => setLook(each)}
              className="h-7 rounded px-2.5 text-[13px] text-soft hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            >
              {t(`story.look.${each}`)}
            </button>
          ))}
        </div>
        {look !== "json" && (
          <span className="flex items-center gap-1.5 text-xs text-soft">
            <Route size={14} aria-hidden />
            {t("story.critical")}
          </span>
        )}
      </div>
      <Totals trace={trace} task={task} now={until} />
      {look === "timeline" && <Lines {...{ task, tell, critical }} now={until} />}
      {look === "compact" && <Brief {...{ task, tell, critical }} now={until} />}
      {look === "json" && <AsJson task={task} />}
    </div>
  );
}

/** Titles of the story's own tasks, also of those that the board does not hold. */
function useTell(task: TraceTask): Tell {
  const { t } = useTranslation("task");
  const { t: audit } = useTranslation("audit");
  const names = useNames(task.project_id);
  return useMemo(
    () => ({ t, audit, names: { ...names, task: (id) => taskIn([task], id)?.title ?? titled(names.task(id), id, t) } }),
    [t, audit, names, task],
  );
}

const titled = (said: string, id: string, t: Tell["t"]) => (said === id ? t("story.otherTask") : said);

function Totals({ trace, task, now }: { trace: Trace; task: TraceTask; now: number }) {
  const { t, i18n } = useTranslation("task");
  const { waited, worked } = sumOf(task, now);
  const { launches, input_tokens, output_tokens, cost_usd } = trace.usage;
  const lasted = now - Date.parse(task.created_at);
  const figures: [string, string][] = [
    [t("story.lasted"), duration(lasted, i18n.language)],
    [t("story.worked"), duration(worked, i18n.language)],
    [t("story.waited"), duration(waited, i18n.language)],
    [t("usage.starts"), String(Math.max(launches, task.launches.length))],
    [t("usage.tokens"), compact(input_tokens + output_tokens, i18n.language)],
    [t("usage.cost"), cost_usd === null ? t("usage.noPrice") : money(cost_usd)],
  ];
  return (
    <dl className="grid grid-cols-3 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="bg-panel px-3 py-2">
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
