// Marked tasks; a mark with shift marks everything from the last one on.
import { useState } from "react";

export interface Marks {
  marked: ReadonlySet<string>;
  mark: (id: string, until: boolean) => void;
  all: () => void;
  none: () => void;
  keep: (ids: readonly string[]) => void;
}

export function useMarks(order: readonly string[]): Marks {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  return {
    marked,
    mark: (id: string, until: boolean) => {
      setMarked((before) => (until ? withRange(before, order, last, id) : toggled(before, id)));
      setLast(id);
    },
    all: () => setMarked((before) => (order.every((id) => before.has(id)) ? new Set() : new Set(order))),
    none: () => setMarked((before) => (before.size === 0 ? before : new Set())),
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
  const here = order.indexOf(to);
  const there = from === null || !order.includes(from) ? here : order.indexOf(from);
  const [start, end] = [Math.min(here, there), Math.max(here, there)];
  return here === -1 ? new Set([...marked, to]) : new Set([...marked, ...order.slice(start, end + 1)]);
}
