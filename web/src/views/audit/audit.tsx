// What has happened, the newest first: every change with who did it. What happens now comes in at the top by itself.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useCallback, useMemo } from "react";

import type { Event } from "@/api/model";
import { history, oneEvent, type EventsWanted } from "@/api/queries";
import { useEvents } from "@/app/live";
import { useNames } from "@/app/names";
import { navigate, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Button, Empty, Failed, Loading, Panel } from "@/ui";
import { Entry } from "@/views/audit/entry";
import { EVERYTHING, Filters, parsed, wantedOf, written, type Filter } from "@/views/audit/filters";

export function Audit() {
  const { t } = useTranslation("audit");
  const { projectId = "" } = useParams();
  const { task = "", agent = "", q = "" } = useSearch();
  const filter = useMemo(() => {
    const said = parsed(q);
    return { ...said, task: said.task || task, agent: said.agent || agent };
  }, [q, task, agent]);
  const setFilter = (next: Filter) =>
    void navigate({
      replace: true,
      search: () => {
        const line = written(next);
        return line === undefined ? {} : { q: line };
      },
    });
  const wanted = useMemo(() => wantedOf(filter, projectId), [filter, projectId]);
  return (
    <div className="mx-auto max-w-6xl space-y-4 p-4 md:p-6">
      <Bar title={t("title")} />
      <Filters filter={filter} change={setFilter} />
      <Log wanted={wanted} projectId={projectId} onTrace={(trace) => setFilter({ ...EVERYTHING, trace })} />
    </div>
  );
}

interface LogProps {
  wanted: EventsWanted;
  projectId: string;
  onTrace: (id: string) => void;
}

function Log({ wanted, projectId, onTrace }: LogProps) {
  const { t } = useTranslation("audit");
  const names = useNames(projectId);
  const found = useInfiniteQuery(history(wanted));
  useArrivals(wanted);
  if (found.isPending) return <Loading rows={8} />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const events = found.data.pages.flatMap((page) => page.events);
  if (events.length === 0)
    return (
      <Empty icon={<History size={26} aria-hidden />} title={t("none")}>
        {t("noneHelp")}
      </Empty>
    );
  return (
    <>
      <Panel>
        <ol>
          {events.map((each) => (
            <Entry key={each.sequence} event={each} names={names} projectId={projectId} onTrace={onTrace} />
          ))}
        </ol>
      </Panel>
      <div className="flex justify-center pb-6">
        {found.hasNextPage ? (
          <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {t("older")}
          </Button>
        ) : (
          <p className="text-xs text-faint">{t("beginning")}</p>
        )}
      </div>
    </>
  );
}

/** Puts what happens now in front, if it is of what is wanted. */
function useArrivals(wanted: EventsWanted): void {
  const client = useQueryClient();
  const { language } = useTranslation().i18n;
  const hear = useCallback(
    (heard: Event) => {
      if (!belongs(heard, wanted)) return;
      void inLanguage(heard, language).then((event) =>
        client.setQueryData(history(wanted).queryKey, (known) => {
          const [first, ...rest] = known?.pages ?? [];
          if (known === undefined || first === undefined) return known;
          if (first.events.some((each) => each.sequence === event.sequence)) return known;
          const events = [event, ...first.events].sort((a, b) => b.sequence - a.sequence);
          return { ...known, pages: [{ ...first, events }, ...rest] };
        }),
      );
    },
    [client, language, wanted],
  );
  useEvents(hear);
}

/** The stream tells the words of a rule in English, to all readers the same: in another language it is read again. */
async function inLanguage(heard: Event, language: string): Promise<Event> {
  if (language === "en" || typeof heard.data["rule"] !== "string") return heard;
  return (await oneEvent(heard)) ?? heard;
}

export function belongs(event: Event, wanted: EventsWanted): boolean {
  const { kind, since, until, ...ids } = wanted;
  if (kind !== undefined && !event.kind.startsWith(kind)) return false;
  const at = Date.parse(event.at);
  if (since !== undefined && at < Date.parse(since)) return false;
  if (until !== undefined && at >= Date.parse(until)) return false;
  return Object.entries(ids).every(([name, value]) => value === undefined || event[name as keyof typeof ids] === value);
}
