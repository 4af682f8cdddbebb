// What the list remembers: filter and order in the address, columns in the browser, marks until one leaves.
import { useMemo, useState } from "react";

import { say, useSearch } from "@/app/routing";

import { HIDDEN_AT_FIRST } from "./columns";
import { byOf, parsed, sortOf, written, type Filter } from "./filter";

export type Sort = { id: string; desc: boolean }[];
const COLUMNS = "toryo.list.columns";

export function useAddress() {
  const { q, by } = useSearch();
  const filter = useMemo(() => parsed(q ?? ""), [q]);
  const sort = useMemo(() => sortOf(by), [by]);
  return {
    filter,
    sort,
    setFilter: (next: Filter) => say({ q: written(next) }, { replace: true }),
    /** Upwards, downwards, as the server orders them. */
    turn: (column: string) => say({ by: byOf(turned(sort, column)) }, { replace: true }),
    open: (taskId: string) => say({ task: taskId }),
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
