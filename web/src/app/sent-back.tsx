// Changes were requested to what a task has done: which task makes them. Shown until that one ends.
import { useQuery } from "@tanstack/react-query";
import { MessageSquareReply } from "lucide-react";

import { isClosed, type RequestedChanges } from "@/api/model";
import { task as taskQuery } from "@/api/queries";
import { TaskChip } from "@/app/task-chip";
import { useTranslation } from "@/i18n/use-words";
import { Badge } from "@/ui";

export function SentBack({ changes }: { changes: RequestedChanges }) {
  const { t } = useTranslation();
  const now = useQuery(taskQuery(changes.task_id)).data;
  if (now !== undefined && isClosed(now)) return null;
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-1.5">
      <Badge tone="violet">
        <MessageSquareReply size={13} aria-hidden />
        {t("sentBack")}
      </Badge>
      <span aria-hidden>→</span>
      <TaskChip taskId={changes.task_id}>{changes.title}</TaskChip>
    </span>
  );
}
