// Everything that has happened to a task, the newest first, in sentences.
import { useInfiniteQuery } from "@tanstack/react-query";

import type { Task } from "@/api/model";
import { history } from "@/api/queries";
import { useNames } from "@/app/names";
import { sentence } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Button, Empty, Failed, Loading } from "@/ui";

export function Events({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const { t: audit } = useTranslation("audit");
  const names = useNames(task.project_id);
  const found = useInfiniteQuery(history({ task_id: task.task_id }));
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const all = found.data.pages.flatMap((page) => page.events);
  if (all.length === 0) return <Empty title={t("events.none")} />;
  return (
    <>
      <ol className="relative ml-1.5 border-l border-line">
        {all.map((each) => (
          <li key={each.event_id} className="relative flex items-baseline gap-3 py-1.5 pl-5">
            <span aria-hidden className="absolute top-3.5 -left-[4.5px] size-2 rounded-full bg-line-strong" />
            <span className="min-w-0 flex-1 break-words">{sentence(each, names, audit)}</span>
            <span className="shrink-0 text-xs text-faint">
              <Ago at={each.at} />
            </span>
          </li>
        ))}
      </ol>
      {found.hasNextPage && (
        <Button small className="mt-3" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          {t("events.more")}
        </Button>
      )}
    </>
  );
}
