// Why a Coordinator could not merge, in its own words: they name the next step.
import { TriangleAlert } from "lucide-react";

import type { MergedWork } from "@/api/model";
import { Hindered } from "@/api/worktrees";
import { TaskChip } from "@/app/task-chip";
import { useTranslation } from "@/i18n/use-words";
import { Failed, Told } from "@/ui";

export function Trouble({ error }: { error: unknown }) {
  const { t } = useTranslation("review");
  if (!(error instanceof Hindered)) return <Failed error={error} />;
  return (
    <div role="alert" className="space-y-2 rounded-md border border-red bg-red-soft p-3">
      <p className="flex items-center gap-2 font-medium text-red">
        <TriangleAlert size={16} aria-hidden />
        {t("merge.hindered")}
      </p>
      <p className="break-words">
        <Told text={error.message || t("noAnswer")} />
      </p>
      <Named title={t("merge.conflict")} names={error.conflict} />
      <Merged all={error.merged} />
    </div>
  );
}

/** What was merged before that, and stays so. */
function Merged({ all }: { all: readonly MergedWork[] }) {
  const { t } = useTranslation("review");
  if (all.length === 0) return null;
  return (
    <div>
      <p className="text-[13px] font-medium">{t("merge.stays")}</p>
      <ul className="space-y-1 text-[13px]">
        {all.map((each) => (
          <li key={each.task_id} className="break-words">
            <TaskChip taskId={each.task_id} /> → <code className="font-mono">{each.into}</code> (
            <code className="font-mono">{each.commit.slice(0, 10)}</code>)
          </li>
        ))}
      </ul>
    </div>
  );
}

function Named({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div>
      <p className="text-[13px] font-medium">{title}</p>
      <ul className="list-inside list-disc font-mono text-[13px]">
        {names.map((each) => (
          <li key={each} className="break-all">
            {each}
          </li>
        ))}
      </ul>
    </div>
  );
}
