// Everything that is set up: projects, agents, providers, machines, retention, keys, people, and oneself. One tab for each.
import {
  Archive,
  Bot,
  Boxes,
  Brain,
  CalendarClock,
  FolderKanban,
  KeyRound,
  Server,
  User,
  Users,
  Webhook,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";

import { useOwns } from "@/app/may";
import { navigate, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar } from "@/ui";
import { AgentsTab } from "@/views/settings/agents";
import { KeysTab } from "@/views/settings/keys";
import { MachinesTab } from "@/views/settings/machines";
import { MeTab } from "@/views/settings/me";
import { MemoryTab } from "@/views/settings/memory";
import { PeopleTab } from "@/views/settings/people";
import { ProjectsTab } from "@/views/settings/projects";
import { ProvidersTab } from "@/views/settings/providers";
import { RetentionTab } from "@/views/settings/retention";
import { SchedulesTab } from "@/views/settings/schedules";
import { WebhooksTab } from "@/views/settings/webhooks";

const TABS = [
  "projects",
  "schedules",
  "webhooks",
  "memory",
  "agents",
  "providers",
  "machines",
  "retention",
  "keys",
  "people",
  "me",
] as const;
type Tab = (typeof TABS)[number];
const SHOWN: Record<Tab, { icon: LucideIcon; view: () => ReactNode }> = {
  projects: { icon: FolderKanban, view: ProjectsTab },
  schedules: { icon: CalendarClock, view: SchedulesTab },
  webhooks: { icon: Webhook, view: WebhooksTab },
  memory: { icon: Brain, view: MemoryTab },
  agents: { icon: Bot, view: AgentsTab },
  providers: { icon: Boxes, view: ProvidersTab },
  machines: { icon: Server, view: MachinesTab },
  retention: { icon: Archive, view: RetentionTab },
  keys: { icon: KeyRound, view: KeysTab },
  people: { icon: Users, view: PeopleTab },
  me: { icon: User, view: MeTab },
};

/** On a phone the row of tabs is longer than the window. */
const intoView = (tab: HTMLElement | null) => tab?.scrollIntoView({ block: "nearest", inline: "center" });

/** Of these only owners are told. */
const OWNERS: readonly Tab[] = ["retention"];

export function Settings() {
  const { t } = useTranslation("settings");
  const owns = useOwns();
  const tabs = TABS.filter((each) => owns || !OWNERS.includes(each));
  const { tab } = useSearch();
  const chosen = tabs.find((each) => each === tab) ?? "projects";
  const View = SHOWN[chosen].view;
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4 md:flex-row md:gap-8 md:p-6">
      <Bar title={t("title")} />
      <nav aria-label={t("title")} className="-mx-4 shrink-0 overflow-x-auto px-4 md:mx-0 md:w-40 md:px-0">
        <ul className="flex gap-1 md:flex-col">
          {tabs.map((each) => {
            const Icon = SHOWN[each].icon;
            return (
              <li key={each}>
                <button
                  type="button"
                  ref={each === chosen ? intoView : undefined}
                  aria-current={each === chosen ? "page" : undefined}
                  onClick={() => void navigate({ to: "/settings", search: { tab: each } })}
                  className={`flex h-9 w-full items-center gap-2 rounded-md px-2.5 whitespace-nowrap ${each === chosen ? "bg-sunken font-medium" : "text-soft hover:bg-sunken hover:text-ink"}`}
                >
                  <Icon size={16} aria-hidden />
                  {t(`tabs.${each}`)}
                </button>
              </li>
            );
          })}
        </ul>
      </nav>
      <div className="min-w-0 flex-1 space-y-4">
        <View key={chosen} />
      </div>
    </div>
  );
}
