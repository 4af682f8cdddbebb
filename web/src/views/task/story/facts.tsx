// The facts of one row of the story: what, when, how long, at what price; the decision and its rule; and where it stands
// in the log. Ids are copied, not shown.
import { ArrowUpRight, Copy, ScrollText } from "lucide-react";
import type { ReactNode } from "react";

import { useOpenTask } from "@/app/going";
import { programOf } from "@/app/program-of";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, DecisionCard, compact, duration, money, useToast } from "@/ui";

import { asDecision, decisionOf, type Row, type TracedLaunch } from "./rows";
import { stateOf, wordsOf, type Tell } from "./words-of";

interface FactsProps {
  row: Row;
  tell: Tell;
  now: number;
}

export function Facts({ row, tell, now }: FactsProps) {
  const { t, i18n } = useTranslation("task");
  const decision = decisionOf(row);
  const title = wordsOf(row, tell);
  const time = (at: number) =>
    new Date(at).toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
  const instantly = row.from === row.to;
  return (
    <section aria-label={t("story.factsOf", { title })} className="space-y-3 border-t border-line bg-panel px-4 py-3">
      <p className="break-words">{title}</p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
        <Fact name={t(instantly ? "story.fact.at" : "story.fact.from")}>{time(row.from)}</Fact>
        {!instantly && <Fact name={t("story.fact.to")}>{row.to === null ? t("story.stillOn") : time(row.to)}</Fact>}
        {!instantly && <Fact name={t("story.lasted")}>{duration((row.to ?? now) - row.from, i18n.language)}</Fact>}
        {factsOf(row, tell, i18n.language).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {decision !== undefined && <DecisionCard decision={asDecision(decision, row.task)} />}
      <div className="flex flex-wrap gap-2">
        <Ways row={row} />
        <CopyId id={idOf(row)} />
      </div>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="min-w-0 break-words whitespace-pre-wrap">{children}</dd>
    </>
  );
}

/** Names and values of what the kind of row knows besides its times. */
function factsOf(row: Row, { t, names }: Tell, language: string): [string, string][] {
  const told: [string, string | null | undefined][] = (() => {
    switch (row.kind) {
      case "task":
        return [
          [t("field.assignee"), row.task.assignee_id === null ? null : names.agent(row.task.assignee_id)],
          [t("summary"), row.task.summary],
          [t("error"), row.task.error],
          [t("artifacts"), row.task.artifacts.map((each) => JSON.stringify(each)).join("\n")],
          [t("story.fact.work"), row.task.work === null ? null : workWords(row.task.work, t)],
        ];
      case "wait":
        return [
          [t("story.fact.rule"), row.wait.rule],
          [t("story.fact.reason"), row.wait.rule === null ? row.wait.reason : null],
          [t("story.fact.on"), row.wait.on.map(names.task).join(", ")],
        ];
      case "launch":
        return launchFacts(row.launch, { t, names }, language);
      case "session":
      case "calls":
        return [
          [t("story.fact.calls"), String(row.launch.session?.calls ?? "")],
          [t("story.fact.end"), spaced(row.launch.session?.end_reason)],
        ];
      case "attempt":
        return [[t("story.fact.end"), spaced(row.attempt.end_reason)]];
      case "decision":
        return [];
      case "check":
        return [
          [t("field.status"), t(`checks.${stateOf(row.check.passed)}`)],
          ...row.check.failures.map((each): [string, string] => [each.check, each.message]),
        ];
      case "delegation":
        return [
          [t("story.fact.purpose"), row.delegation.purpose],
          [t("field.status"), t(`story.delegated.${row.delegation.status}` as "story.delegated.pending")],
        ];
      case "talk":
        return [[t("story.fact.purpose"), row.talk.purpose]];
      case "event":
        return row.event.kind === "task.completed" || row.event.kind === "task.failed"
          ? [
              [t("summary"), row.task.summary],
              [t("error"), row.task.error],
            ]
          : [[t("story.fact.reason"), typeof row.event.data["reason"] === "string" ? row.event.data["reason"] : null]];
    }
  })();
  return told.filter((each): each is [string, string] => Boolean(each[1]));
}

function launchFacts(
  launch: TracedLaunch,
  { t, names }: Pick<Tell, "t" | "names">,
  language: string,
): [string, string | null | undefined][] {
  const { usage } = launch;
  const number = (count = 0) => compact(count, language);
  const tokens =
    usage?.input_tokens === undefined
      ? null
      : t("story.tokens", { input: number(usage.input_tokens), output: number(usage.output_tokens) });
  return [
    [t("usage.agent"), names.agent(launch.agent_id)],
    [t("story.fact.program"), programOf(launch, usage?.model ?? launch.model)],
    [t("story.fact.reason"), spaced(launch.reason)],
    [t("story.fact.end"), spaced(launch.end_reason)],
    [t("error"), launch.exit_error],
    [t("usage.tokens"), tokens],
    [t("usage.cost"), usage?.cost_usd == null ? null : money(usage.cost_usd)],
    [t("usage.calls"), usage?.tool_calls ? number(usage.tool_calls) : null],
  ];
}

function workWords(work: NonNullable<Row["task"]["work"]>, t: Tell["t"]): string {
  const files = t("diff.files", { count: work.files_changed });
  const into = work.merged_into === null ? "" : ` → ${work.merged_into}`;
  return `${t(`diff.state.${work.state}`)}${into} · ${files} · +${work.insertions} −${work.deletions}`;
}

const spaced = (name: string | null | undefined) => name?.replaceAll("_", " ");

/** Where one sees more: the task, the review, the place in the log. */
function Ways({ row }: { row: Row }) {
  const { t } = useTranslation("task");
  const open = useOpenTask();
  const { project_id: projectId, task_id: taskId } = row.task;
  const launch = launchOf(row);
  const reviewed = (row.kind === "wait" && row.wait.cause === "review") || isReview(row);
  const look =
    "inline-flex items-center gap-1.5 rounded-md border border-line-strong px-2 py-1 text-[13px] font-medium hover:bg-sunken";
  return (
    <>
      {row.kind === "task" && row.depth > 0 && (
        <Button small onClick={() => open(taskId, "story")}>
          <ArrowUpRight size={14} aria-hidden />
          {t("story.openTask")}
        </Button>
      )}
      {launch !== null && (
        <Link
          to="/p/$projectId/logs"
          params={{ projectId }}
          search={{ launch, pos: new Date(row.from).toISOString() }}
          className={look}
        >
          <ScrollText size={14} aria-hidden />
          {t("story.log")}
        </Link>
      )}
      {reviewed && (
        <Link to="/p/$projectId/review/$taskId" params={{ projectId, taskId }} className={look}>
          <ArrowUpRight size={14} aria-hidden />
          {t("diff.review")}
        </Link>
      )}
    </>
  );
}

const isReview = (row: Row) => row.kind === "event" && row.event.kind.startsWith("worktree.");

/** The launch in whose log the row stands. */
function launchOf(row: Row): string | null {
  switch (row.kind) {
    case "launch":
    case "session":
    case "calls":
      return row.launch.launch_id;
    case "check":
      return row.check.launch_id;
    case "event":
      return row.event.launch_id;
    default:
      return null;
  }
}

function idOf(row: Row): string {
  return row.kind === "wait" || row.kind === "attempt" ? row.task.task_id : row.id.replace("event:", "");
}

function CopyId({ id }: { id: string }) {
  const { t } = useTranslation("task");
  const toast = useToast();
  const copy = () =>
    navigator.clipboard.writeText(id).then(
      () => toast.done(t("app.copied", { ns: "translation" })),
      (error: unknown) => toast.failed(error),
    );
  return (
    <Button small look="quiet" onClick={() => void copy()}>
      <Copy size={14} aria-hidden />
      {t("story.copyId")}
    </Button>
  );
}
