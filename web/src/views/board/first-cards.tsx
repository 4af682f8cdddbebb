// The first cards of a column, until what draws those that are seen is loaded: they stand where it will draw them.
import type { ReactNode } from "react";

import type { BoardTask } from "@/api/model";

/** Between cards, and above the first one: as `py-2` and `space-y-2`. */
export const GAP_PX = 8;
/** More than are seen at first. */
const FIRST = 16;

/** Where a card stands in its column. */
export interface Stands {
  index: number;
  /** null: after the one before it. */
  start: number | null;
  measure: (node: Element | null) => void;
}

export interface CardsProps {
  cards: BoardTask[];
  /** What scrolls. */
  frame: HTMLDivElement | null;
  /** Of the card that is chosen; -1: it is not in this column. */
  place: number;
  draw: (card: BoardTask, stands: Stands) => ReactNode;
}

const measure = () => undefined;

export function FirstCards({ cards, draw }: CardsProps) {
  return (
    <div className="space-y-2 py-2">
      {cards.slice(0, FIRST).map((card, index) => draw(card, { index, start: null, measure }))}
    </div>
  );
}
