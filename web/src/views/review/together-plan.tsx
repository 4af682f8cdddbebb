// In which order the work of several tasks is best merged: why each stands where it does, and what became of it.
import { CircleCheck, LoaderCircle, TriangleAlert, X } from "lucide-react";

import type { OrderedTask } from "@/api/model";
import { PullRequestLink } from "@/app/pull-request";
import { Link } from "@/app/routing";
import { SentBack } from "@/app/sent-back";
import { useTranslation } from "@/i18n/use-words";
import { Badge, IconButton, Panel } from "@/ui";
import { Figures } from "@/views/review/figures";
import type { Step } from "@/views/review/merging-in-order";
import { Trouble } from "@/views/review/trouble";

interface PlanProps {
  order: readonly OrderedTask[];
  steps: ReadonlyMap<string, Step>;
  titleOf: (taskId: string) => string;
  /** null: somebody merges, or may not. */
  onLeaveOut: ((taskId: string) => void) | null;
}

export function Plan({ order, steps, titleOf, onLeaveOut }: PlanProps) {
  const { t } = useTranslation("review");
  return (
    <Panel title={t("together.order")} aside={<Badge>{order.length}</Badge>}>
      <ol className="divide-y divide-line">
        {order.map((each, place) => (
          <Row
            key={each.worktree.task_id}
            {...{ each, titleOf }}
            number={place + 1}
            step={steps.get(each.worktree.task_id)}
            onLeaveOut={order.length > 1 ? onLeaveOut : null}
          />
        ))}
      </ol>
    </Panel>
  );
}

interface RowProps extends Pick<PlanProps, "titleOf" | "onLeaveOut"> {
  each: OrderedTask;
  number: number;
  step: Step | undefined;
}

function Row({ each, number, step, titleOf, onLeaveOut }: RowProps) {
  const { t } = useTranslation("review");
  const { worktree: work, after, conflicts_with: against, truncated } = each;
  const named = (ids: readonly string[]) =>
    ids.map((id) => t("together.quoted", { title: titleOf(id) })).join(t("together.and"));
  return (
    <li className="space-y-2 px-4 py-2.5">
      <div className="flex items-start gap-3">
        <span className="w-5 shrink-0 text-right text-soft tabular-nums">{number}.</span>
        <div className="min-w-0 flex-1">
          <Link
            to="/p/$projectId/review/$taskId"
            params={{ projectId: work.project_id, taskId: work.task_id }}
            className="font-medium break-words hover:underline"
          >
            {work.title}
          </Link>
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
            {after.length > 0 && <span>{t("together.after", { titles: named(after) })}</span>}
            {against.length > 0 && (
              <span className="inline-flex items-center gap-1 text-red">
                <TriangleAlert size={12} aria-hidden />
                {t("together.against", { titles: named(against) })}
              </span>
            )}
            {work.changes_requested !== null && <SentBack changes={work.changes_requested} />}
            {work.review === "at_work" && <Badge tone="amber">{t("list.at_work")}</Badge>}
            {truncated && <Badge tone="amber">{t("together.cut")}</Badge>}
          </p>
        </div>
        <Figures insertions={work.insertions} deletions={work.deletions} />
        <Mark step={step} />
        {onLeaveOut !== null && step?.is !== "merged" && step?.is !== "opened" && (
          <IconButton
            label={`${t("together.leaveOut")}: ${work.title}`}
            small
            className="-my-1"
            onClick={() => onLeaveOut(work.task_id)}
          >
            <X size={14} />
          </IconButton>
        )}
      </div>
      {step?.is === "refused" && <Trouble error={step.why} />}
    </li>
  );
}

function Mark({ step }: { step: Step | undefined }) {
  const { t } = useTranslation("review");
  if (step?.is === "merging")
    return <LoaderCircle size={16} className="animate-spin" role="img" aria-label={t("merge.going")} />;
  if (step?.is === "opened") return <PullRequestLink of={step.pullRequest} />;
  if (step?.is !== "merged") return null;
  const { into, commit } = step;
  return (
    <Badge tone="green">
      <CircleCheck size={12} aria-hidden />
      {commit === "" ? t("merge.already", { into }) : t("over.merged", { into })}
    </Badge>
  );
}
