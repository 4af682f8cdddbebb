// How two tasks meet in a file, as a sentence.
import { CircleHelp, GitMerge, TriangleAlert } from "lucide-react";

import type { CombinedFile } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";

type Meeting = CombinedFile["meetings"][number];

const LOOK = {
  conflict: [TriangleAlert, "text-red"],
  unknown: [CircleHelp, "text-amber"],
  builds_on: [GitMerge, "text-soft"],
  same: [GitMerge, "text-soft"],
  apart: [GitMerge, "text-soft"],
} as const;

export function Meetings({ all, titleOf }: { all: readonly Meeting[]; titleOf: (taskId: string) => string }) {
  const { t } = useTranslation("review");
  if (all.length === 0) return null;
  return (
    <ul className="space-y-1 border-b border-line px-3 py-2 text-[13px]">
      {all.map((each) => {
        const [Icon, tone] = LOOK[each.kind];
        const [one = "", other = ""] = each.task_ids.map(titleOf);
        const [from, to] = each.lines ?? [0, 0];
        const where = each.lines === null ? "file" : from === to ? "line" : "lines";
        const said =
          each.kind === "conflict"
            ? t(`together.meets.conflict.${where}`, { one, other, from, to })
            : t(`together.meets.${each.kind}`, { one, other });
        return (
          <li key={each.task_ids.join(" ")} className="flex gap-1.5">
            <Icon size={15} className={`mt-0.5 shrink-0 ${tone}`} aria-hidden />
            <span className="min-w-0 break-words">
              {said} {each.kind === "conflict" && !each.exact && t("together.meets.inexact")}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
