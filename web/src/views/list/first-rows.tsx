// The first rows, until what draws those that are seen is loaded: they stand where it will draw them.
import type { ReactNode } from "react";

export const ROW_PX = 40;
/** More than are seen at first. */
const FIRST = 40;

export interface ManyRowsProps {
  count: number;
  scroller: HTMLDivElement | null;
  /** Of the row that is chosen; -1: none is. */
  place: number;
  draw: (index: number, start: number) => ReactNode;
}

export function FirstRows({ count, draw }: ManyRowsProps) {
  return (
    <div role="rowgroup" className="relative" style={{ height: count * ROW_PX }}>
      {Array.from({ length: Math.min(count, FIRST) }, (_, index) => draw(index, index * ROW_PX))}
    </div>
  );
}
