// What was refused of an act on many tasks: each reason once, with how many it is about and which.

import { useTranslation } from "@/i18n/use-words";
import { Dialog, StatusIcon, Told } from "@/ui";

import type { Outcome } from "./on-each";
import { byReason, type Reason } from "./reasons";

export function Refusals({ outcome, onClose }: { outcome: Outcome | null; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      open={outcome !== null}
      onClose={onClose}
      wide
      title={t("bulk.refusedTitle", { count: outcome?.refused.length ?? 0 })}
      description={t("bulk.refusedText", { done: outcome?.done.length ?? 0 })}
    >
      <ul className="divide-y divide-line">
        {byReason(outcome?.refused ?? [], t("error.away")).map((each) => (
          <Because key={`${each.what}\n${each.next}`} reason={each} />
        ))}
      </ul>
    </Dialog>
  );
}

function Because({ reason: { what, next, tasks } }: { reason: Reason }) {
  const { t } = useTranslation();
  return (
    <li className="space-y-1 py-3">
      <p className="font-medium break-words">{headOf(tasks, t)}</p>
      <p className="break-words text-red">
        <Told text={what} />
      </p>
      {next && (
        <p className="break-words text-soft">
          <Told text={next} />
        </p>
      )}
      <details open={tasks.length <= 5}>
        <summary className="cursor-pointer text-xs text-faint">{t("bulk.which", { count: tasks.length })}</summary>
        <ul className="mt-1 space-y-1">
          {tasks.map((task) => (
            <li key={task.task_id} className="flex gap-2">
              <span className="mt-0.5">
                <StatusIcon status={task.status} />
              </span>
              <span className="min-w-0 break-words">{task.title}</span>
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

/** How many, and what they are, where all have the same status. */
function headOf(tasks: Reason["tasks"], t: ReturnType<typeof useTranslation>["t"]): string {
  const [first] = tasks;
  const same = first !== undefined && tasks.every((each) => each.status === first.status);
  return same
    ? t("bulk.are", { count: tasks.length, status: t(`status.${first.status}`) })
    : t("bulk.some", { count: tasks.length });
}
