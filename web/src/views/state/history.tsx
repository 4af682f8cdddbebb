// Earlier versions of a key: version, author, time and lifetime. Old values are not kept.
import { useInfiniteQuery } from "@tanstack/react-query";

import type { Event } from "@/api/model";
import { history } from "@/api/queries";
import type { Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Button, Failed, Loading, duration } from "@/ui";

/** One is mounted for each version, so what is new is read. */
export function History({ projectId, name, names }: { projectId: string; name: string; names: Names }) {
  const { t } = useTranslation("state");
  const found = useInfiniteQuery({
    ...history({ project_id: projectId, kind: "state.set" }),
    refetchOnMount: "always",
  });
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const all = found.data.pages.flatMap((page) => page.events).filter((each) => each.data.key === name);
  return (
    <div className="border-t border-line px-4 py-2">
      {all.length === 0 && <p className="py-1 text-[13px] text-soft">{t("historyNone")}</p>}
      <ol className="divide-y divide-line">
        {all.map((each) => (
          <Entry key={each.event_id} each={each} names={names} />
        ))}
      </ol>
      {found.hasNextPage && (
        <Button small className="my-1" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          {t("historyMore")}
        </Button>
      )}
    </div>
  );
}

function Entry({ each, names }: { each: Event; names: Names }) {
  const { t, i18n } = useTranslation("state");
  const { version, ttl } = each.data;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5 text-[13px]">
      <Badge>{t("version", { version })}</Badge>
      <span>{names.agent(each.actor_id)}</span>
      {typeof ttl === "number" && (
        <span className="text-faint">{t("lasted", { time: duration(ttl * 1000, i18n.language) })}</span>
      )}
      <span className="ml-auto text-xs text-faint">
        <Ago at={each.at} />
      </span>
    </li>
  );
}
