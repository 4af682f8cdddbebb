// On the page of a task: what its agent asks, as a form, and what was answered before.
import { useQuery } from "@tanstack/react-query";
import { MessageSquareText } from "lucide-react";

import type { Question, Task } from "@/api/model";
import { agents } from "@/api/queries";
import { questionsOf } from "@/api/questions";
import { useTranslation } from "@/i18n/use-words";
import { Badge, visible } from "@/ui";
import { QuestionForm } from "@/views/task/question-form";

export function TaskQuestions({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const found = useQuery(questionsOf(task.project_id, task.task_id)).data ?? [];
  const open = found.filter((each) => each.state === "open").toReversed();
  const ended = found.filter((each) => each.state !== "open");
  if (found.length === 0) return null;
  return (
    <section
      aria-label={t("asked.title")}
      className={`w-full space-y-2 rounded-lg border bg-panel p-3 text-left ${open.length > 0 ? "border-amber" : "border-line"}`}
    >
      <Badge tone={open.length > 0 ? "amber" : "plain"}>
        <MessageSquareText size={13} aria-hidden />
        {t(found[0]?.review ? "asked.review" : "asked.title")}
      </Badge>
      {open.length > 0 && <QuestionForm taskId={task.task_id} questions={open} />}
      {ended.length > 0 && (
        <dl className="max-h-48 space-y-1 overflow-auto text-[13px]">
          {ended.map((each) => (
            <div key={each.question_id}>
              <dt className="break-words text-soft">{visible(each.question)}</dt>
              <dd className="break-words">
                <Ended question={each} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Ended({ question }: { question: Question }) {
  const { t } = useTranslation("task");
  const known = useQuery(agents).data;
  const who = known?.find((each) => each.agent_id === question.ended_by)?.name ?? question.ended_by ?? "";
  const answer = visible([...question.choices, ...(question.text === null ? [] : [question.text])].join("; "));
  if (question.review && question.state === "withdrawn")
    return <span className="text-faint">{t("asked.notNeeded")}</span>;
  if (question.state === "withdrawn") return <span className="text-faint">{t("asked.withdrawnBy")}</span>;
  return <>{t(`asked.${question.state}`, { who, answer })}</>;
}
