// What of the log is shown.
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";

import { agents, type EventsWanted } from "@/api/queries";
import { FilterBar, type Facet } from "@/app/filter";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Button, TextField } from "@/ui";

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
  "view",
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

/** As it stands in the address: `kind:task actor:ada since:2026-03-02`; what is no filter is the id of a request. */
export function parsed(line: string): Filter {
  const filter = { ...EVERYTHING };
  for (const word of line.split(/\s+/).filter(Boolean)) {
    const [name, value] = [word.slice(0, word.indexOf(":")), word.slice(word.indexOf(":") + 1)];
    if (name !== "trace" && name in filter) filter[name as keyof Filter] = value;
    else filter.trace = word;
  }
  return filter;
}

/** undefined where nothing is filtered, so that the address stays clean. */
export function written({ trace, ...filter }: Filter): string | undefined {
  const parts = Object.entries(filter).filter(([, value]) => value !== "");
  return [...parts.map(([name, value]) => `${name}:${value}`), trace].filter(Boolean).join(" ") || undefined;
}

export function Filters({ filter, change }: { filter: Filter; change: (filter: Filter) => void }) {
  const { t } = useTranslation("audit");
  const people = useQuery(agents).data ?? [];
  const facet = (name: "kind" | "agent" | "actor", options: Facet["options"]): Facet => ({
    name,
    label: t(name),
    options,
    one: true,
    chosen: filter[name] === "" ? [] : [filter[name]],
    onChoose: ([chosen = ""]) => change({ ...filter, [name]: chosen }),
  });
  const anybody = people.map(({ agent_id: value, name }) => ({
    value,
    words: name,
    sign: <Avatar id={value} name={name} size={18} />,
  }));
  const set = (name: keyof Filter) => (value: string) => change({ ...filter, [name]: value });
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <FilterBar
          facets={[
            facet(
              "kind",
              NOUNS.map((value) => ({ value, words: t(`kinds.${value}`) })),
            ),
            facet("agent", anybody),
            facet("actor", anybody),
          ]}
          search={{ text: filter.task, onText: (text) => set("task")(text.trim()), label: t("task") }}
          onClear={() => change(EVERYTHING)}
        />
        <div className="flex items-center gap-2">
          <TextField bare label={t("since")} type="date" value={filter.since} onChange={set("since")} />
          <span aria-hidden>–</span>
          <TextField bare label={t("until")} type="date" value={filter.until} onChange={set("until")} />
        </div>
      </div>
      {(filter.trace || filter.since || filter.until) && (
        <div className="flex flex-wrap items-center gap-2">
          {filter.trace && (
            <span className="font-mono text-xs break-all text-soft">{t("onlyTrace", { id: filter.trace })}</span>
          )}
          <Button small look="quiet" onClick={() => change({ ...filter, trace: "", since: "", until: "" })}>
            <X size={14} aria-hidden />
            {t(filter.trace ? "allRequests" : "allDays")}
          </Button>
        </div>
      )}
    </div>
  );
}
