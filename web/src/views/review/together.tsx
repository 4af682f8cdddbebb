// What several tasks have changed, as one diff: files in which they overlap first, and a proposed order of merging.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, GitPullRequestArrow } from "lucide-react";
import { useCallback, useMemo, useState } from "react";

import type { CombinedDiff } from "@/api/model";
import { USUAL_CONTEXT, combinedDiff } from "@/api/diffs";
import { useWrites } from "@/app/may";
import { Link, navigate, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Button, Empty, Failed, Loading } from "@/ui";
import { MergeBar } from "@/views/review/merge-bar";
import { useMergingInOrder } from "@/views/review/merging-in-order";
import { TogetherFiles } from "@/views/review/together-files";
import { Plan } from "@/views/review/together-plan";

export function Together() {
  const { t } = useTranslation("review");
  const { projectId = "" } = useParams();
  const { tasks = "", only } = useSearch() as { tasks?: string; only?: string };
  const [context, setContext] = useState(USUAL_CONTEXT);
  const taskIds = tasks.split(",").filter((each) => each !== "");
  const wanted = { taskIds, below: only === undefined, context };
  const asked = useQuery({
    ...combinedDiff(projectId, wanted),
    enabled: taskIds.length > 0,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return (
    <>
      <Bar title={t("together.title")}>
        <Link
          to="/p/$projectId/review"
          params={{ projectId }}
          className="inline-flex shrink-0 items-center gap-0.5 text-[13px] text-soft hover:text-ink"
        >
          <ChevronLeft size={14} aria-hidden />
          {t("all")}
        </Link>
      </Bar>
      {taskIds.length === 0 ? (
        <Empty icon={<GitPullRequestArrow size={28} aria-hidden />} title={t("together.none")}>
          {t("together.noneText")}
        </Empty>
      ) : asked.data !== undefined ? (
        <Shown
          projectId={projectId}
          diff={asked.data}
          again={() => void asked.refetch()}
          {...{ context, setContext, reading: asked.isFetching }}
        />
      ) : asked.error !== null ? (
        <Failed error={asked.error} retry={() => void asked.refetch()} />
      ) : (
        <div className="p-3 sm:p-5">
          <p className="text-soft">{t("reading")}</p>
          <Loading rows={6} />
        </div>
      )}
    </>
  );
}

interface ShownProps {
  projectId: string;
  diff: CombinedDiff;
  again: () => void;
  reading: boolean;
  context: number;
  setContext: (lines: number) => void;
}

function Shown({ projectId, diff, again, reading, context, setContext }: ShownProps) {
  const { t } = useTranslation("review");
  const writes = useWrites();
  const merging = useMergingInOrder();
  const titles = useMemo(() => new Map(diff.order.map(({ worktree: each }) => [each.task_id, each.title])), [diff]);
  const titleOf = useCallback((taskId: string) => titles.get(taskId) ?? taskId, [titles]);
  const leaveOut = (taskId: string) => {
    const rest = [...titles.keys()].filter((each) => each !== taskId);
    merging.forget();
    void navigate({
      to: "/p/$projectId/review/together",
      params: { projectId },
      search: { tasks: rest.join(","), only: "yes" },
    });
  };
  const refused = [...merging.steps.values()].some((each) => each.is === "refused");
  const reload = () => {
    merging.forget();
    again();
  };
  return (
    <div className="flex min-h-full flex-col">
      <MergeBar {...{ diff, merging }} writes={writes} />
      <div className="space-y-4 p-3 sm:px-5">
        <Missing diff={diff} />
        {diff.order.length > 0 && (
          <Plan
            order={diff.order}
            steps={merging.steps}
            titleOf={titleOf}
            onLeaveOut={merging.busy ? null : leaveOut}
          />
        )}
        {(refused || diff.waiting.length > 0 || diff.order.length === 0) && (
          <Button small onClick={reload} disabled={reading || merging.busy}>
            {t("together.again")}
          </Button>
        )}
        <TogetherFiles {...{ diff, titleOf, context, setContext }} />
      </div>
    </div>
  );
}

/** What is not in it, and why. */
function Missing({ diff }: { diff: CombinedDiff }) {
  const { t } = useTranslation("review");
  const late = diff.waiting.length;
  if (diff.missing.length === 0 && late === 0) return null;
  return (
    <div role="status" className="rounded-md bg-amber-soft px-3 py-2 text-amber">
      <p className="font-medium">{t("together.missing", { count: diff.missing.length + late })}</p>
      <ul className="list-inside list-disc">
        {diff.missing.map((each) => (
          <li key={each.task_id} className="break-words">
            {t("together.quoted", { title: each.title })}: {each.message}
          </li>
        ))}
        {late > 0 && <li>{t("together.late", { count: late })}</li>}
      </ul>
    </div>
  );
}
