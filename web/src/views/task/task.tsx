// One task: beside what one looks at, or as a page of its own. The tab stands in the address.
import { useQuery } from "@tanstack/react-query";
import * as Tabs from "@radix-ui/react-tabs";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ArrowUpRight } from "lucide-react";
import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";

import { Refused } from "@/api/client";
import type { Task } from "@/api/model";
import { task as taskQuery } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { Bar, Dialog, Empty, Failed, Loading } from "@/ui";
import { Decisions } from "@/views/task/decisions";
import { DiffTab } from "@/views/task/diff";
import { Events } from "@/views/task/events";
import { Head } from "@/views/task/head";
import { LiveLog } from "@/views/task/log";
import { Messages } from "@/views/task/messages";
import { Overview } from "@/views/task/overview";
import { UsageTab } from "@/views/task/usage";

const TABS: Record<string, ComponentType<{ task: Task }>> = {
  overview: Overview,
  log: LiveLog,
  messages: Messages,
  diff: DiffTab,
  decisions: Decisions,
  events: Events,
  usage: UsageTab,
};

export function TaskPage() {
  const { t } = useTranslation("task");
  const { taskId = "" } = useParams({ strict: false });
  return (
    <div className="mx-auto flex min-h-full max-w-4xl flex-col p-4 sm:p-6">
      <Bar title={t("task")} />
      <Body key={taskId} taskId={taskId} />
    </div>
  );
}

export function TaskSheet({ taskId }: { taskId: string }) {
  const { t } = useTranslation("task");
  const open = useOpenTask();
  return (
    <Dialog
      open
      side
      wide
      onClose={() => open(null)}
      title={t("task")}
      aside={
        <Link
          to="/t/$taskId"
          params={{ taskId }}
          className="inline-flex items-center gap-1 rounded-md px-2 py-1 text-[13px] text-soft hover:bg-sunken hover:text-ink"
        >
          {t("page")}
          <ArrowUpRight size={14} aria-hidden />
        </Link>
      }
    >
      <Body taskId={taskId} />
    </Dialog>
  );
}

function Body({ taskId }: { taskId: string }) {
  const { t } = useTranslation("task");
  const known = useQuery(taskQuery(taskId));
  if (known.isPending) return <Loading rows={8} />;
  if (known.data !== undefined) return <Whole task={known.data} />;
  if (known.error instanceof Refused && known.error.problem.status === 404) return <Empty title={t("gone")} />;
  return <Failed error={known.error} retry={() => void known.refetch()} />;
}

function Whole({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const { tab: said = "" } = useSearch({ strict: false });
  const navigate = useNavigate();
  const tab = said in TABS ? said : "overview";
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-4">
      <Head task={task} />
      <Tabs.Root
        value={tab}
        onValueChange={(next) =>
          void navigate({ to: ".", replace: true, search: (known) => ({ ...known, tab: next }) })
        }
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
