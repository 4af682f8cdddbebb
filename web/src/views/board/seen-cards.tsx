// Of the cards of a column only those that are seen are drawn.
import { measureElement, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef } from "react";

import type { BoardTask } from "@/api/model";
import { useOverscan } from "@/ui";
import { GAP_PX, type CardsProps } from "@/views/board/first-cards";
import { firstGuess, kindOf } from "@/views/board/heights";

export function SeenCards({ cards, frame, place, draw }: CardsProps) {
  const virtual = useCards(cards, frame);
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place);
  }, [place, virtual]);
  return (
    <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, start }) => {
        const card = cards[index];
        return card !== undefined && draw(card, { index, start, measure: virtual.measureElement });
      })}
    </div>
  );
}

/** The cards that are seen, as high as others of their kind have turned out to be. */
function useCards(cards: BoardTask[], frame: HTMLDivElement | null) {
  const measured = useRef(new Map<string, number>());
  const guess = (index: number) => {
    const kind = kindAt(index);
    return measured.current.get(kind) ?? firstGuess(kind);
  };
  const kindAt = (index: number) => {
    const card = cards[index];
    return card === undefined ? "" : kindOf(card, frame?.clientWidth ?? 0);
  };
  const measure = (
    node: Element,
    entry: ResizeObserverEntry | undefined,
    all: Virtualizer<HTMLDivElement, Element>,
  ) => {
    const size = measureElement(node, entry, all);
    measured.current.set(kindAt(all.indexFromElement(node)), size);
    return size;
  };
  return useVirtualizer({
    count: cards.length,
    getScrollElement: () => frame,
    estimateSize: guess,
    measureElement: measure,
    getItemKey: useCallback((index: number) => cards[index]?.task_id ?? index, [cards]), // a new one measures again
    gap: GAP_PX,
    paddingStart: GAP_PX,
    paddingEnd: GAP_PX,
    overscan: useOverscan(6),
  });
}
