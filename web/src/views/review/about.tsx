// What stands beside the changes: what was asked, what was checked, what the agent says of it, and what it cost.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { Task } from "@/api/model";
import { agents, usage } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Badge, Checks, Prose, bytes, duration, hasChecks, money, runTime, type Tone } from "@/ui";

export function About({ task, wide }: { task: Task; wide: boolean }) {
  const { t } = useTranslation("review");
  const parts = (
    <div className="space-y-4 pt-3 xl:pt-0">
      <Part title={t("about.asked")}>
        {task.description === "" ? (
          <p className="text-faint">{t("about.noDescription")}</p>
        ) : (
          <Prose text={task.description} />
        )}
      </Part>
      <Acceptance task={task} />
      {task.summary && (
        <Part title={t("about.summary")}>
          <Prose text={task.summary} />
        </Part>
      )}
      <Part title={t("about.work")}>
        <Figures task={task} />
      </Part>
    </div>
  );
  if (wide)
    return (
      <aside
        aria-label={t("about.title")}
        className="sticky top-16 max-h-[calc(100dvh-8rem)] w-72 shrink-0 overflow-auto text-[13px]"
      >
        {parts}
      </aside>
    );
  return (
    <details className="rounded-lg border border-line bg-panel px-3 py-2 text-[13px]">
      <summary className="cursor-pointer font-medium">{t("about.title")}</summary>
      {parts}
    </details>
  );
}

function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0 space-y-1.5">
      <h3 className="flex items-center gap-2 text-xs font-medium text-faint">
        <span className="flex-1">{title}</span>
        {aside}
      </h3>
      {children}
    </section>
  );
}

const TONE: Record<string, Tone> = { passed: "green", failed: "red", running: "blue" };

function Acceptance({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("review");
  if (!hasChecks(task)) return null;
  return (
    <Part
      title={t("about.acceptance")}
      aside={<Badge tone={TONE[task.checks] ?? "plain"}>{t(`about.checks.${task.checks}`)}</Badge>}
    >
      <Checks
        task={task}
        words={{
          outcome: ({ outcome, runs, seconds }) =>
            t(`about.checked.${outcome}`, { runs, time: runTime(seconds * 1000, i18n.language) }),
          output: t("about.checked.output"),
          leftOut: t("about.checked.leftOut"),
          size: (count) => bytes(count, i18n.language),
        }}
      />
    </Part>
  );
}

/** Who did it, when, in which time and for how much. */
function Figures({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("review");
  const known = useQuery(agents).data;
  const sums = useQuery(usage({ task_id: task.task_id, by: ["agent", "model"] })).data?.totals;
  const who = known?.find((each) => each.agent_id === task.assignee_id)?.name ?? task.assignee_id;
  const { started_at: from, completed_at: to } = task;
  const tokens = sums === undefined ? 0 : sums.input_tokens + sums.output_tokens;
  const facts: [string, ReactNode][] = [];
  if (who !== null)
    facts.push([
      t("about.by"),
      <span key="who" className="inline-flex items-center gap-1.5">
        <Avatar id={task.assignee_id ?? ""} name={who} size={18} />
        {who}
      </span>,
    ]);
  if (to !== null)
    facts.push([t(task.status === "completed" ? "about.completed" : "about.ended"), <Ago key="ago" at={to} />]);
  if (from !== null && to !== null)
    facts.push([t("about.lasted"), duration(Date.parse(to) - Date.parse(from), i18n.language)]);
  if (sums !== undefined && sums.launches > 0) {
    facts.push([t("about.cost"), sums.cost_usd === null ? t("about.noPrice") : money(sums.cost_usd)]);
    if (tokens > 0) facts.push([t("about.tokens"), tokens.toLocaleString(i18n.language)]);
  }
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 text-right break-words tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
