// What of the log is shown.
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { agents, type EventsWanted } from "@/api/queries";
import { Button, SelectField, TextField, type Choice } from "@/ui";

export interface Filter {
  agent: string;
  actor: string;
  task: string;
  kind: string;
  since: string;
  until: string;
  trace: string;
}

export const EVERYTHING: Filter = { agent: "", actor: "", task: "", kind: "", since: "", until: "", trace: "" };

const NOUNS = [
  "task",
  "agent",
  "project",
  "session",
  "launch",
  "decision",
  "message",
  "conversation",
  "delegation",
  "claim",
  "person",
  "key",
  "worktree",
  "state",
  "guard",
] as const;
const DAY_MS = 86_400_000;

/** As the server is asked. Days are the reader's own: from midnight of the first to midnight after the last. */
export function wantedOf(filter: Filter, projectId: string): EventsWanted {
  const midnight = (day: string, later = 0) => new Date(Date.parse(`${day}T00:00:00`) + later).toISOString();
  return {
    project_id: projectId,
    ...(filter.agent && { agent_id: filter.agent }),
    ...(filter.actor && { actor_id: filter.actor }),
    ...(filter.task && { task_id: filter.task }),
    ...(filter.kind && { kind: `${filter.kind}.` }),
    ...(filter.trace && { correlation_id: filter.trace }),
    ...(filter.since && { since: midnight(filter.since) }),
    ...(filter.until && { until: midnight(filter.until, DAY_MS) }),
  };
}

export function Filters({ filter, change }: { filter: Filter; change: (filter: Filter) => void }) {
  const { t } = useTranslation("audit");
  const people = useQuery(agents).data ?? [];
  const anybody: Choice[] = [
    { value: "", label: t("any") },
    ...people.map((each) => ({ value: each.agent_id, label: each.name })),
  ];
  const kinds: Choice[] = [
    { value: "", label: t("kinds.all") },
    ...NOUNS.map((each) => ({ value: each, label: t(`kinds.${each}`) })),
  ];
  const set = (name: keyof Filter) => (value: string) => change({ ...filter, [name]: value });
  return (
    <div className="space-y-2">
      <div role="search" aria-label={t("filters")} className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-6">
        <SelectField label={t("kind")} value={filter.kind} choices={kinds} onChange={set("kind")} />
        <SelectField label={t("agent")} value={filter.agent} choices={anybody} onChange={set("agent")} />
        <SelectField label={t("actor")} value={filter.actor} choices={anybody} onChange={set("actor")} />
        <TextField
          label={t("task")}
          value={filter.task}
          placeholder="tsk_…"
          onChange={(text) => set("task")(text.trim())}
        />
        <TextField label={t("since")} type="date" value={filter.since} onChange={set("since")} />
        <TextField label={t("until")} type="date" value={filter.until} onChange={set("until")} />
      </div>
      {Object.values(filter).some(Boolean) && (
        <div className="flex flex-wrap items-center gap-2">
          {filter.trace && (
            <span className="font-mono text-xs break-all text-soft">{t("onlyTrace", { id: filter.trace })}</span>
          )}
          <Button small look="quiet" onClick={() => change(EVERYTHING)}>
            <X size={14} aria-hidden />
            {t("clear")}
          </Button>
        </div>
      )}
    </div>
  );
}
