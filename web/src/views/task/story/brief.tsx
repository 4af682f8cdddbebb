// The story in short: one line for each task, with all that was waited and worked on one track.
import { Route } from "lucide-react";
import { useState } from "react";

import type { TraceTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { StatusIcon, duration } from "@/ui";

import { axisOf, placeOf } from "./axis";
import { Facts } from "./facts";
import type { LookProps } from "./lines";
import { looksOf } from "./looks";
import { instant, rowsOf, rowsWithin, sumOf } from "./rows";

/** Every task of the story with its depth, parents first. */
function flat(task: TraceTask, depth = 0): { task: TraceTask; depth: number }[] {
  return [{ task, depth }, ...task.tasks.flatMap((each) => flat(each, depth + 1))];
}

export function Brief({ task, tell, critical, now }: LookProps) {
  const { t, i18n } = useTranslation("task");
  const [chosen, setChosen] = useState<string | null>(null);
  const axis = axisOf(instant(task.created_at), now);
  return (
    <ol aria-label={t("story.tasks")} className="divide-y divide-line overflow-hidden rounded-lg border border-line">
      {flat(task).map(({ task: each, depth }) => {
        const { waited, worked } = sumOf(each, now);
        const figures = { worked: duration(worked, i18n.language), waited: duration(waited, i18n.language) };
        const marks = rowsWithin(each, 0).filter((row) => row.kind !== "decision");
        return (
          <li key={each.task_id}>
            <button
              type="button"
              aria-pressed={chosen === each.task_id}
              onClick={() => setChosen(chosen === each.task_id ? null : each.task_id)}
              className={`w-full border-l-4 px-2 py-2 text-left hover:bg-sunken ${critical.has(each.task_id) ? "border-ink" : "border-transparent"}`}
              style={{ paddingLeft: 8 + depth * 14 }}
            >
              <span className="flex items-center gap-1.5">
                <StatusIcon status={each.status} size={14} />
                <span className="min-w-0 truncate font-medium">{each.title}</span>
                {critical.has(each.task_id) && (
                  <Route size={13} role="img" aria-label={t("story.onPath")} className="shrink-0" />
                )}
                <span className="ml-auto shrink-0 text-xs text-faint tabular-nums">{t("story.sum", figures)}</span>
              </span>
              <span aria-hidden className="relative mt-1.5 block h-4 rounded-sm bg-sunken">
                {marks.map((row) => {
                  const { left, width } = placeOf(axis, row.from, row.to ?? now);
                  return (
                    <span
                      key={row.id}
                      className={`absolute rounded-sm ${row.kind === "wait" ? "inset-y-1.5" : "inset-y-0.5"} ${looksOf(row).bar}`}
                      style={{ left: `${left}%`, width: `${width}%` }}
                    />
                  );
                })}
              </span>
            </button>
            {chosen === each.task_id && <TaskFacts task={each} tell={tell} now={now} />}
          </li>
        );
      })}
    </ol>
  );
}

function TaskFacts({ task, tell, now }: { task: TraceTask; tell: LookProps["tell"]; now: number }) {
  const [row] = rowsOf(task, new Set());
  return row === undefined ? null : <Facts row={row} tell={tell} now={now} />;
}
