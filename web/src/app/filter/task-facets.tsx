// What tasks are narrowed by, on every view that shows them: as api/filter.ts writes it into the address.

import { NOBODY, PRIORITIES, type Filter } from "@/api/filter";
import { STATUSES, type BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, PriorityIcon, StatusIcon } from "@/ui";

import type { Facet } from "./filter-bar";

interface Given {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  agents: readonly { agent_id: string; name: string }[];
  tasks: readonly BoardTask[];
}

export function useTaskFacets({ filter, onFilter, agents, tasks }: Given): Facet[] {
  const { t } = useTranslation();
  const queues = [...new Set(tasks.flatMap((each) => each.agent_type ?? []))].sort();
  const used = new Set(tasks.map((each) => each.assignee_id));
  const people = agents.filter((each) => used.has(each.agent_id) || filter.assignee.includes(each.agent_id));
  const put = (name: "status" | "assignee" | "priority" | "queue") => (chosen: string[]) =>
    onFilter({ ...filter, [name]: chosen });
  const all: Facet[] = [
    {
      name: "status",
      label: t("filter.status"),
      options: STATUSES.map((value) => ({ value, words: t(`status.${value}`), sign: <StatusIcon status={value} /> })),
      chosen: filter.status,
      onChoose: put("status"),
    },
    {
      name: "assignee",
      label: t("filter.assignee"),
      options: [
        ...people.map(({ agent_id: value, name }) => ({
          value,
          words: name,
          sign: <Avatar id={value} name={name} size={18} />,
        })),
        { value: NOBODY, words: t("app.nobody"), sign: null },
      ],
      chosen: filter.assignee,
      onChoose: put("assignee"),
    },
    {
      name: "priority",
      label: t("filter.priority"),
      options: PRIORITIES.map((value) => ({
        value,
        words: t(`priority.${value}`),
        sign: <PriorityIcon priority={value} />,
      })),
      chosen: filter.priority,
      onChoose: put("priority"),
    },
    {
      name: "queue",
      label: t("filter.queue"),
      options: [...new Set([...queues, ...filter.queue])].map((value) => ({ value, words: value })),
      chosen: filter.queue,
      onChoose: put("queue"),
    },
  ];
  return all.filter((each) => each.options.length > 0);
}
