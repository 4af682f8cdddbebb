// What the list remembers: filter and order in the address, columns in the browser, marks until one leaves.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { HIDDEN_AT_FIRST } from "./columns";
import { byOf, parsed, sortOf, written, type Filter } from "./filter";

export type Sort = { id: string; desc: boolean }[];
const COLUMNS = "toryo.list.columns";

export function useAddress() {
  const { q, by } = useSearch({ strict: false });
  const navigate = useNavigate();
  const say = (said: Record<string, string | undefined>) =>
    void navigate({ to: ".", search: (before) => ({ ...before, ...said }) as never, replace: true });
  const filter = useMemo(() => parsed(q ?? ""), [q]);
  const sort = useMemo(() => sortOf(by), [by]);
  return {
    filter,
    sort,
    setFilter: (next: Filter) => say({ q: written(next) }),
    /** Upwards, downwards, as the server orders them. */
    turn: (column: string) => say({ by: byOf(turned(sort, column)) }),
    open: (taskId: string) => void navigate({ to: ".", search: (before) => ({ ...before, task: taskId }) as never }),
  };
}

export function turned(sort: Sort, column: string): Sort {
  const [now] = sort;
  if (now?.id !== column) return [{ id: column, desc: false }];
  return now.desc ? [] : [{ id: column, desc: true }];
}

export function useVisibleColumns(): [Record<string, boolean>, (column: string, shown: boolean) => void] {
  const [visible, setVisible] = useState<Record<string, boolean>>(kept);
  function show(column: string, shown: boolean): void {
    const next = { ...visible, [column]: shown };
    localStorage.setItem(COLUMNS, JSON.stringify(next));
    setVisible(next);
  }
  return [visible, show];
}

function kept(): Record<string, boolean> {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(COLUMNS) ?? "null");
    return typeof said === "object" && said !== null ? (said as Record<string, boolean>) : HIDDEN_AT_FIRST;
  } catch {
    return HIDDEN_AT_FIRST;
  }
}

/** Marked rows; a mark with shift marks everything from the last one on. */
export function useMarks(order: readonly string[]) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  return {
    marked,
    mark: (id: string, until: boolean) => {
      setMarked((before) => (until ? withRange(before, order, last, id) : toggled(before, id)));
      setLast(id);
    },
    all: () => setMarked((before) => (order.every((id) => before.has(id)) ? new Set() : new Set(order))),
    none: () => setMarked(new Set()),
    keep: (ids: readonly string[]) => setMarked(new Set(ids)),
  };
}

function toggled(marked: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(marked);
  if (!next.delete(id)) next.add(id);
  return next;
}

export function withRange(
  marked: ReadonlySet<string>,
  order: readonly string[],
  from: string | null,
  to: string,
): Set<string> {
  const [start, end] = [order.indexOf(from ?? to), order.indexOf(to)].sort((a, b) => a - b);
  return new Set([...marked, ...order.slice(Math.max(0, start ?? 0), (end ?? 0) + 1)]);
}
