// The columns of the list: what stands in each cell, how it is ordered, how wide it is.
import {
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/react-table";
import { useMemo } from "react";

import { anyone } from "@/ui";
import { isFinal, standing, STATUSES, type Agent, type BoardTask } from "@/api/model";
import { useWords } from "@/i18n/use-words";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, PriorityIcon, StatusIcon, usePlainly } from "@/ui";

import { PRIORITIES } from "./filter";

export const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
});
const helper = createColumnHelper<typeof features, BoardTask>();

export const WIDTHS: Record<string, string> = {
  status: "7.5rem",
  title: "minmax(12rem, 1fr)",
  priority: "6.5rem",
  assignee: "10rem",
  waits: "6rem",
  children: "6rem",
  attempt: "5.5rem",
  created: "7.5rem",
  updated: "7.5rem",
  id: "9rem",
};
export const HIDDEN_AT_FIRST = { attempt: false, created: false, id: false };
/** What a phone has room for. */
export const NARROW_WIDTHS: Record<string, string> = { status: "1.5rem", title: "minmax(0, 1fr)", assignee: "1.75rem" };

/** Numbers order as numbers, words as the reader's language orders them: `value` says which. */
const by = <Value extends number | string>(value: (task: BoardTask) => Value) => ({
  sortFn: (left: { original: BoardTask }, right: { original: BoardTask }) => {
    const [a, b] = [value(left.original), value(right.original)];
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  },
});

export function useColumns(agents: ReadonlyMap<string, Agent>, narrow: boolean) {
  const { t } = useTranslation("list");
  return useMemo(() => {
    const name = (task: BoardTask) => agents.get(task.assignee_id ?? "")?.name ?? task.assignee_id ?? "";
    return helper.columns([
      helper.accessor("status", {
        header: t("column.status"),
        ...by((task) => STATUSES.indexOf(task.status)),
        cell: ({ row }) => <Status task={row.original} narrow={narrow} />,
      }),
      helper.accessor("title", {
        header: t("column.title"),
        enableHiding: false,
        ...by((task) => task.title),
        cell: ({ row }) => <Title task={row.original} narrow={narrow} />,
      }),
      helper.accessor("priority", {
        header: t("column.priority"),
        ...by((task) => PRIORITIES.indexOf(task.priority)),
        cell: ({ row }) => <PriorityCell task={row.original} />,
      }),
      helper.accessor("assignee_id", {
        id: "assignee",
        header: t("column.assignee"),
        ...by(name),
        cell: ({ row }) => <Assignee task={row.original} name={name(row.original)} narrow={narrow} />,
      }),
      helper.accessor("waits_for", {
        id: "waits",
        header: t("column.waits"),
        ...by((task) => task.waits_for),
        cell: ({ row }) => <Count many={row.original.waits_for} />,
      }),
      helper.accessor("children", {
        header: t("column.children"),
        ...by((task) => task.children),
        cell: ({ row }) => <Progress done={row.original.children_done} all={row.original.children} />,
      }),
      helper.accessor("attempt", {
        header: t("column.attempt"),
        ...by((task) => task.attempt),
        cell: ({ row }) => <Count many={row.original.attempt} />,
      }),
      helper.accessor("created_at", {
        id: "created",
        header: t("column.created"),
        ...by((task) => Date.parse(task.created_at)),
        cell: ({ row }) => <Faint at={row.original.created_at} />,
      }),
      helper.accessor("updated_at", {
        id: "updated",
        header: t("column.updated"),
        ...by((task) => Date.parse(task.updated_at)),
        cell: ({ row }) => <Faint at={row.original.updated_at} />,
      }),
      helper.accessor("task_id", {
        id: "id",
        header: t("column.id"),
        ...by((task) => task.task_id),
        cell: ({ row }) => <span className="truncate font-mono text-xs text-faint">{row.original.task_id}</span>,
      }),
    ]);
  }, [agents, narrow, t]);
}

function Status({ task, narrow }: { task: BoardTask; narrow: boolean }) {
  const t = useWords();
  if (narrow) return <StatusIcon status={task.status} />;
  return (
    <span className="flex min-w-0 items-center gap-2 text-soft">
      <span aria-hidden className="flex">
        <StatusIcon status={task.status} />
      </span>
      <span className="truncate">{t(`status.${standing(task)}`)}</span>
    </span>
  );
}

function Title({ task, narrow }: { task: BoardTask; narrow: boolean }) {
  const over = isFinal(task);
  return (
    <span className="flex min-w-0 items-center gap-2">
      {narrow && <PriorityIcon priority={task.priority} />}
      <span className={`truncate ${over ? "text-faint" : "font-medium"}`} title={task.title}>
        {task.title}
      </span>
      {task.blocked_reason !== null && !narrow && <Reason text={task.blocked_reason} />}
    </span>
  );
}

function Reason({ text }: { text: string }) {
  const words = usePlainly()(text);
  return (
    <span className="hidden truncate text-xs text-amber lg:inline" title={words}>
      {words}
    </span>
  );
}

function PriorityCell({ task }: { task: BoardTask }) {
  const t = useWords();
  return (
    <span className="flex items-center gap-1.5 text-soft">
      <span aria-hidden className="flex">
        <PriorityIcon priority={task.priority} />
      </span>
      {t(`priority.${task.priority}`)}
    </span>
  );
}

function Assignee({ task, name, narrow }: { task: BoardTask; name: string; narrow: boolean }) {
  const t = useWords("list");
  if (task.assignee_id === null)
    return (
      <span className="truncate text-faint">{anyone(task, t) ?? task.agent_type ?? (narrow ? "–" : t("nobody"))}</span>
    );
  return (
    <span className="flex min-w-0 items-center gap-2" title={name}>
      <Avatar id={task.assignee_id} name={name} size={20} />
      <span className={narrow ? "sr-only" : "truncate text-soft"}>{name}</span>
    </span>
  );
}

function Count({ many }: { many: number }) {
  return <span className="text-soft tabular-nums">{many === 0 ? "–" : many}</span>;
}

function Progress({ done, all }: { done: number; all: number }) {
  return <span className="text-soft tabular-nums">{all === 0 ? "–" : `${done}/${all}`}</span>;
}

function Faint({ at }: { at: string }) {
  return (
    <span className="truncate text-faint">
      <Ago at={at} />
    </span>
  );
}
