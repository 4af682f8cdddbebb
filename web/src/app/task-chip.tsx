// A task as part of a text or a line of facts: its status and title, and what is known of it when one points at it. It
// opens beside what one looks at.
import { useQuery } from "@tanstack/react-query";

import { task as taskQuery } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { StatusIcon } from "@/ui";

export function TaskChip({ taskId, children }: { taskId: string; children?: string }) {
  const { t } = useTranslation();
  const open = useOpenTask();
  const found = useQuery({ ...taskQuery(taskId), retry: false });
  const names = useNames("").agent;
  if (found.isError) return <code className="font-mono text-[0.92em]">{children ?? t("chip.gone")}</code>;
  const { title, status, assignee_id: who } = found.data ?? {};
  const about = status && [t(`status.${status}`), who ? names(who) : t("app.nobody")].join(" · ");
  return (
    <button
      type="button"
      onClick={(event) => {
        event.stopPropagation();
        open(taskId);
      }}
      title={about}
      className="inline-flex max-w-full items-center gap-1 rounded border border-line bg-panel px-1.5 align-middle text-[0.95em] leading-5 text-ink hover:border-line-strong hover:underline"
    >
      {status !== undefined && <StatusIcon status={status} size={13} />}
      <span className="truncate">{title ?? children ?? "…"}</span>
    </button>
  );
}
