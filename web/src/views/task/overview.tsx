// The overview of a task: description, assignee, subtasks, and result.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";

import type { Task } from "@/api/model";
import { agents, board, titleKnown } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Prose, StatusIcon, Told, hasChecks, visible } from "@/ui";
import { Acceptance } from "@/views/task/acceptance";
import { TaskBudget } from "@/views/task/budget";
import { EditableText } from "@/views/task/editable";
import { Result } from "@/views/task/result";
import { Section } from "@/views/task/section";
import { Touches } from "@/views/task/touches";

export function Overview({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  return (
    <div className="space-y-6">
      <Facts task={task} />
      <Trouble task={task} />
      {task.line && (
        <p className="text-soft">
          <Told text={task.line.message} />
        </p>
      )}
      <EditableText task={task} field="description" />
      <Subtasks task={task} />
      <Dependencies task={task} />
      <Reviews task={task} />
      <Touches task={task} />
      <TaskBudget task={task} />
      <Acceptance task={task} />
      {task.result !== null && task.result !== undefined && <Result value={task.result} />}
      {task.summary && <Words title={t("summary")} text={task.summary} />}
      {task.next_steps && <Words title={t("nextSteps")} text={task.next_steps} />}
      {task.artifacts.length > 0 && (
        <Section title={t("artifacts")}>
          <ul className="space-y-1 font-mono text-[13px]">
            {task.artifacts.map((each) => (
              <li key={plain(each)} className="break-all">
                {plain(each)}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {task.context !== null && task.context !== undefined && (
        <details open={task.approval === "pending_approval"}>
          <summary className="cursor-pointer text-[13px] text-soft">{t("context")}</summary>
          <pre className="mt-2 max-h-96 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs">
            {visible(JSON.stringify(task.context, null, 2))}
          </pre>
        </details>
      )}
    </div>
  );
}

function Words({ title, text }: { title: string; text: string }) {
  return (
    <Section title={title}>
      <Prose text={text} />
    </Section>
  );
}

function Facts({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const open = useOpenTask();
  const known = useQuery(agents).data;
  const names = (id: string) => known?.find((each) => each.agent_id === id)?.name ?? id;
  const { parent_task_id: parent } = task;
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 rounded-lg border border-line p-3 text-[13px] sm:grid-cols-[auto_1fr_auto_1fr]">
      <dt className="text-faint">{t("field.filed")}</dt>
      <dd className="truncate">
        <Ago at={task.created_at} /> <span className="text-soft">{t("field.by", { who: names(task.created_by) })}</span>
      </dd>
      <dt className="text-faint">{t("field.attempt")}</dt>
      <dd className="tabular-nums">{task.attempt}</dd>
      {task.started_at !== null && (
        <>
          <dt className="text-faint">{t("field.started")}</dt>
          <dd>
            <Ago at={task.started_at} />
          </dd>
        </>
      )}
      {task.completed_at !== null && (
        <>
          <dt className="text-faint">{t("field.ended")}</dt>
          <dd>
            <Ago at={task.completed_at} />
          </dd>
        </>
      )}
      {parent !== null && (
        <>
          <dt className="text-faint">{t("field.parent")}</dt>
          <dd className="min-w-0">
            <button type="button" className="max-w-full truncate text-left link" onClick={() => open(parent)}>
              <TitleOf projectId={task.project_id} taskId={parent} />
            </button>
          </dd>
        </>
      )}
    </dl>
  );
}

function Trouble({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const who = useQuery(agents).data?.find((each) => each.agent_id === task.blocked_by)?.name ?? task.blocked_by;
  const lines = [
    task.blocked_reason && `${who === null ? "" : `${t("blockedBy", { who })}: `}${task.blocked_reason}`,
    task.dependency_failed && t("dependencyFailed"),
    task.error && `${t("error")}: ${task.error}`,
    ...(hasChecks(task) ? [] : task.check_failures).map((each) => `${each.check}: ${each.message.split("\n")[0]}`),
  ].filter((each): each is string => Boolean(each));
  if (lines.length === 0) return null;
  const tone = task.status === "failed" ? "border-red bg-red-soft text-red" : "border-amber bg-amber-soft text-amber";
  return (
    <ul className={`space-y-1 rounded-lg border p-3 ${tone}`}>
      {lines.map((each) => (
        <li key={each} className="flex gap-2 break-words whitespace-pre-wrap">
          <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          <span className="min-w-0">
            <Told text={each} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Subtasks({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const all = task.subtasks.length;
  if (all === 0) return null;
  const done = task.subtasks.filter((each) => each.status === "completed").length;
  return (
    <Section title={t("subtasks")} aside={t("subtasksDone", { done, all })}>
      <Tasks of={task.subtasks} />
    </Section>
  );
}

function Dependencies({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const cards = useQuery(board(task.project_id)).data?.tasks;
  if (task.dependencies.length === 0) return null;
  const others = task.dependencies.map((id) => {
    const card = cards?.find((each) => each.task_id === id);
    const title = card?.title ?? titleKnown(id) ?? t("chip.older");
    return { task_id: id, title, status: card?.status ?? null, assignee_id: null };
  });
  return (
    <Section title={t("dependencies")}>
      <Tasks of={others} />
    </Section>
  );
}

/** Both directions: the tasks in which agents review this work, and the work that is reviewed here. */
function Reviews({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const cards = useQuery(board(task.project_id)).data?.tasks;
  const now = (each: Line): Line => ({ ...each, ...cards?.find((card) => card.task_id === each.task_id) });
  return (
    <>
      {task.review_of !== null && (
        <Section title={t("reviewOf")}>
          <Tasks of={[now(task.review_of)]} />
        </Section>
      )}
      {task.reviews.length > 0 && (
        <Section title={t("reviews")}>
          <Tasks of={task.reviews.map(now)} />
        </Section>
      )}
    </>
  );
}

type Line = Pick<Task, "task_id" | "title" | "assignee_id"> & { status: Task["status"] | null };

/** Other tasks, a line each, that lead to them. */
function Tasks({ of }: { of: readonly Line[] }) {
  const open = useOpenTask();
  const known = useQuery(agents).data;
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {of.map((each) => {
        const name = known?.find((one) => one.agent_id === each.assignee_id)?.name ?? each.assignee_id;
        return (
          <li key={each.task_id}>
            <button
              type="button"
              onClick={() => open(each.task_id)}
              className="flex min-h-9 w-full items-center gap-2.5 px-3 text-left hover:bg-sunken"
            >
              {each.status !== null && <StatusIcon status={each.status} size={15} />}
              <span className="min-w-0 flex-1 truncate">{each.title}</span>
              {name !== null && (
                <span title={name} className="inline-flex items-center">
                  <Avatar id={each.assignee_id ?? ""} name={name} size={20} />
                  <span className="sr-only">{name}</span>
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function TitleOf({ projectId, taskId }: { projectId: string; taskId: string }) {
  const cards = useQuery(board(projectId)).data?.tasks;
  const { t } = useTranslation();
  return cards?.find((each) => each.task_id === taskId)?.title ?? titleKnown(taskId) ?? t("chip.older");
}

/** Results and artifacts are whatever an agent reported: a text, or JSON. */
function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
