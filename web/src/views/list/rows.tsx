// The rows, and the heads of their columns.
import { useTable } from "@tanstack/react-table";
import { ArrowDown, ArrowUp } from "lucide-react";
import { createElement, memo, useEffect, useMemo, useState, type MouseEvent } from "react";

import type { Agent, BoardTask } from "@/api/model";
import { useWords } from "@/i18n/use-words";
import { useTranslation } from "@/i18n/use-words";
import { late, useLate } from "@/ui";

import { NARROW_WIDTHS, WIDTHS, features, useColumns } from "./columns";
import { FirstRows, ROW_PX } from "./first-rows";
import type { Sort } from "./use-list";

/** Draws only the rows that are seen, so five thousand scroll as smoothly as fifty. */
const seen = late(() => import("./seen-rows").then((part) => part.SeenRows));

interface RowsProps {
  tasks: BoardTask[];
  agents: ReadonlyMap<string, Agent>;
  narrow: boolean;
  sort: Sort;
  onSort: (column: string) => void;
  visible: Record<string, boolean>;
  marked: ReadonlySet<string>;
  /** null: who looks may change nothing, so nothing is marked. */
  onMark: ((taskId: string, until: boolean) => void) | null;
  onMarkAll: () => void;
  at: string | null;
  onOpen: (taskId: string) => void;
  onOrder: (ids: string[]) => void;
}

export function Rows(props: RowsProps) {
  const { t } = useTranslation("list");
  const { tasks, narrow, sort, at, marked, onOrder } = props;
  const columns = useColumns(props.agents, narrow);
  const columnVisibility = useMemo(
    () =>
      narrow ? Object.fromEntries(Object.keys(WIDTHS).map((each) => [each, each in NARROW_WIDTHS])) : props.visible,
    [narrow, props.visible],
  );
  const table = useTable({
    features,
    columns,
    data: tasks,
    getRowId: (task) => task.task_id,
    state: { sorting: sort, columnVisibility },
  });
  const rows = table.getRowModel().rows;
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null); // a ref is still empty when the rows look for it

  useEffect(() => onOrder(rows.map((row) => row.id)), [rows, onOrder]);
  const place = useMemo(() => (at === null ? -1 : rows.findIndex((row) => row.id === at)), [rows, at]);

  const under = useMemo(() => belowTheirs(rows.map((row) => row.original)), [rows]);
  const shown = table.getVisibleLeafColumns();
  const widths = narrow ? NARROW_WIDTHS : WIDTHS;
  const { onMark } = props;
  const template = `${onMark === null ? "" : "1.75rem "}${shown.map((column) => widths[column.id]).join(" ")}`;
  const all = marked.size > 0 && rows.every((row) => marked.has(row.id));
  return (
    <div ref={setScroller} className="min-h-0 flex-1 overflow-auto">
      <div
        role="grid"
        aria-label={t("grid")}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={onMark !== null}
        className={narrow ? "" : "min-w-3xl"}
      >
        <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-paper">
          <div
            role="row"
            aria-rowindex={1}
            className="grid h-9 items-center gap-3 px-4 text-xs text-faint"
            style={{ gridTemplateColumns: template }}
          >
            {onMark !== null && (
              <span role="columnheader" className="flex">
                <Box label={t("selectAll")} checked={all} onClick={props.onMarkAll} />
              </span>
            )}
            {shown.map((column) => (
              <Header
                key={column.id}
                name={String(column.columnDef.header)}
                said={!(narrow && column.id !== "title")}
                order={sort[0]?.id === column.id ? (sort[0].desc ? "descending" : "ascending") : "none"}
                onSort={() => props.onSort(column.id)}
              />
            ))}
          </div>
        </div>
        {createElement(useLate(seen) ?? FirstRows, {
          count: rows.length,
          scroller,
          place,
          draw: (index, start) => {
            const row = rows[index];
            return (
              row !== undefined && (
                <Line
                  key={row.id}
                  row={row}
                  Cell={table.FlexRender}
                  index={index}
                  start={start}
                  under={under.has(row.id)}
                  template={template}
                  marked={marked.has(row.id)}
                  here={row.id === at}
                  onOpen={props.onOpen}
                  onMark={onMark}
                />
              )
            );
          },
        })}
      </div>
    </div>
  );
}

/** The tasks that stand directly below the one that they are a part of, or below others of its parts that do. */
export function belowTheirs(tasks: readonly Pick<BoardTask, "task_id" | "parent_task_id">[]): ReadonlySet<string> {
  const found = new Set<string>();
  tasks.forEach(({ task_id: id, parent_task_id: parent }, place) => {
    const above = tasks[place - 1];
    if (parent === null || above === undefined) return;
    if (above.task_id === parent || (above.parent_task_id === parent && found.has(above.task_id))) found.add(id);
  });
  return found;
}

type Model = ReturnType<ReturnType<typeof useTable<typeof features, BoardTask>>["getRowModel"]>["rows"][number];

interface LineProps {
  row: Model;
  Cell: ReturnType<typeof useTable<typeof features, BoardTask>>["FlexRender"];
  index: number;
  start: number;
  /** It stands below the task that it is a part of. */
  under: boolean;
  template: string;
  marked: boolean;
  here: boolean;
  onOpen: (taskId: string) => void;
  onMark: RowsProps["onMark"];
}

/** One row. Scrolling moves the others past it: it is drawn again only when something of its own has changed. */
const Line = memo(function Line({ row, Cell, index, start, under, template, marked, here, onOpen, onMark }: LineProps) {
  const t = useWords("list");
  const look = marked ? "bg-accent-soft" : here ? "bg-sunken" : "hover:bg-sunken";
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={onMark === null ? undefined : marked}
      data-here={here || undefined}
      className={`absolute inset-x-0 grid cursor-pointer items-center gap-3 border-b border-line/60 px-4 data-here:shadow-[inset_2px_0_0_var(--accent)] ${look}`}
      style={{ gridTemplateColumns: template, height: ROW_PX, transform: `translateY(${start}px)` }}
      onClick={() => onOpen(row.id)}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget === event.target && onOpen(row.id)}
    >
      {onMark !== null && (
        <span role="gridcell" className="flex">
          <Box
            label={t("select", { title: row.original.title })}
            checked={marked}
            onClick={(event) => onMark(row.id, event.shiftKey)}
          />
        </span>
      )}
      {row.getVisibleCells().map((cell) => (
        <span role="gridcell" key={cell.id} className="flex min-w-0">
          {under && cell.column.id === "title" && (
            <span aria-hidden data-under className="pr-2 text-faint">
              └
            </span>
          )}
          <Cell cell={cell} />
        </span>
      ))}
    </div>
  );
});

interface HeaderProps {
  name: string;
  said: boolean;
  order: "ascending" | "descending" | "none";
  onSort: () => void;
}

function Header({ name, said, order, onSort }: HeaderProps) {
  const Arrow = order === "descending" ? ArrowDown : ArrowUp;
  return (
    <span role="columnheader" aria-sort={order} className="flex min-w-0">
      <button type="button" onClick={onSort} className="flex min-w-0 items-center gap-1 rounded hover:text-ink">
        <span className={said ? "truncate" : "sr-only"}>{name}</span>
        {order !== "none" && <Arrow size={12} aria-hidden className="shrink-0" />}
      </button>
    </span>
  );
}

interface BoxProps {
  label: string;
  checked: boolean;
  onClick: (event: MouseEvent<HTMLInputElement>) => void;
}

function Box({ label, checked, onClick }: BoxProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      onChange={() => undefined}
      onClick={(event) => {
        event.stopPropagation();
        onClick(event);
      }}
      className="size-4 accent-[var(--accent)]"
    />
  );
}
