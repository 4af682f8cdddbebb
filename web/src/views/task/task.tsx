// One task: beside what one looks at, or as a page of its own. The tab stands in the address.
import { useQuery } from "@tanstack/react-query";
import * as Tabs from "@radix-ui/react-tabs";
import { ArrowUpRight } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, type ComponentType } from "react";

import { Refused } from "@/api/client";
import type { Task } from "@/api/model";
import { task as taskQuery } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useKeys } from "@/app/keys";
import { useWide } from "@/app/narrow";
import { useLooksBack } from "@/app/past/past";
import { Link, say, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Dialog, Empty, Failed, Loading, SidePanel } from "@/ui";
import { Decisions } from "@/views/task/decisions";
import { DiffTab } from "@/views/task/diff";
import { Events } from "@/views/task/events";
import { Head } from "@/views/task/head";
import { LiveLog } from "@/views/task/log";
import { Messages } from "@/views/task/messages";
import { Overview } from "@/views/task/overview";
import type { Place } from "@/views/task/place";
import { Story } from "@/views/task/story";
import { UsageTab } from "@/views/task/usage";

const TABS: Record<string, ComponentType<{ task: Task }>> = {
  overview: Overview,
  story: Story,
  log: LiveLog,
  messages: Messages,
  diff: DiffTab,
  decisions: Decisions,
  events: Events,
  usage: UsageTab,
};

export function TaskPage() {
  const { t } = useTranslation("task");
  const { taskId = "" } = useParams();
  const title = useQuery(taskQuery(taskId)).data?.title;
  return (
    <div className="mx-auto flex min-h-full max-w-4xl flex-col p-4 sm:p-6">
      <Bar title={t("task")} {...(title === undefined ? {} : { name: title })} />
      <Body key={taskId} taskId={taskId} place="page" />
    </div>
  );
}

/** Beside the view where there is room, else over it. */
export function TaskSheet({ taskId }: { taskId: string }) {
  const { t } = useTranslation("task");
  const open = useOpenTask();
  const beside = useWide();
  const close = () => open(null);
  const given = { title: t("task"), onClose: close, aside: <AsPage taskId={taskId} /> };
  if (!beside)
    return (
      <Dialog open side wide {...given}>
        <Body key={taskId} taskId={taskId} place="over" />
      </Dialog>
    );
  return (
    <SidePanel {...given}>
      <Leaving taskId={taskId} onClose={close} />
      <Body key={taskId} taskId={taskId} place="beside" />
    </SidePanel>
  );
}

/** Escape closes the panel; the focus goes to the card, if it was in the panel. */
function Leaving({ taskId, onClose }: { taskId: string; onClose: () => void }) {
  const { t } = useTranslation();
  const latest = useRef(taskId);
  useEffect(() => {
    latest.current = taskId;
  }, [taskId]);
  useLayoutEffect(
    () => () => {
      const within = document.activeElement?.closest("[data-beside]") != null;
      const cards = [...document.querySelectorAll<HTMLElement>("[data-card]")];
      if (within) cards.find((each) => each.dataset.card === latest.current)?.focus();
    },
    [],
  );
  useKeys([{ key: "Escape", words: t("app.close"), first: true, run: onClose }]);
  return null;
}

function AsPage({ taskId }: { taskId: string }) {
  const { t } = useTranslation("task");
  return (
    <Link
      to="/t/$taskId"
      params={{ taskId }}
      className="inline-flex items-center gap-1 rounded-md px-2 py-1 text-[13px] text-soft hover:bg-sunken hover:text-ink"
    >
      {t("page")}
      <ArrowUpRight size={14} aria-hidden />
    </Link>
  );
}

function Body({ taskId, place }: { taskId: string; place: Place }) {
  const { t } = useTranslation("task");
  const known = useQuery(taskQuery(taskId));
  if (known.isPending) return <Loading rows={8} />;
  if (known.data !== undefined) return <Whole task={known.data} place={place} />;
  if (known.error instanceof Refused && known.error.problem.status === 404) return <Empty title={t("gone")} />;
  return <Failed error={known.error} retry={() => void known.refetch()} />;
}

function Whole({ task, place }: { task: Task; place: Place }) {
  const { t } = useTranslation("task");
  const { tab: said = "" } = useSearch();
  const past = useLooksBack();
  const tab = said in TABS ? said : "overview";
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-4">
      {past && (
        <p className="rounded-md bg-amber-soft px-3 py-2 text-[13px] text-amber">
          {t("past.panel", { ns: "translation" })}
        </p>
      )}
      <Head task={task} place={place} />
      <Tabs.Root
        value={tab}
        onValueChange={(next) => say({ tab: next }, { replace: true })}
        className="flex min-h-0 flex-1 flex-col"
      >
        <Tabs.List
          aria-label={t("task")}
          className="-mx-1 flex shrink-0 gap-1 overflow-x-auto border-b border-line px-1 [scrollbar-width:none]"
        >
          {Object.keys(TABS).map((name) => (
            <Tabs.Trigger
              key={name}
              value={name}
              className="-mb-px h-9 shrink-0 border-b-2 border-transparent px-2.5 text-[13px] text-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
            >
              {t(`tab.${name}`)}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {Object.entries(TABS).map(([name, Tab]) => (
          <Tabs.Content key={name} value={name} className="min-h-0 flex-1 pt-4 outline-none" tabIndex={-1}>
            <Tab task={task} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </div>
  );
}
