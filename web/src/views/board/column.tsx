// One column of a lane: only the cards that are seen are drawn. While a card is carried it says whether it takes it.
import { useDroppable } from "@dnd-kit/core";
import { measureElement, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { Ban } from "lucide-react";
import { memo, useCallback, useEffect, useMemo, useRef, type RefObject } from "react";
import { useTranslation } from "react-i18next";

import type { BoardTask, Move, TaskStatus } from "@/api/model";
import { Button } from "@/ui";
import { Card } from "@/views/board/card";
import type { Press } from "@/views/board/hand";
import { firstGuess, kindOf } from "@/views/board/heights";

const GAP_PX = 8;

export interface Shown {
  names: Map<string, string>;
  at: string | null;
  onOpen: (taskId: string) => void;
  onSelect: (taskId: string) => void;
  press: RefObject<Press | null>;
  /** The card that is carried, and where it may go; null: none is. */
  carried: { card: BoardTask; moves: Move[] | null } | null;
}

interface ColumnProps extends Shown {
  lane: string;
  status: TaskStatus;
  cards: BoardTask[];
  /** The height follows the cards, up to a bound: in lanes. */
  short: boolean;
  /** How many of the column are not here yet, and what reads the next ones; null: they are being read. */
  hidden: number;
  onMore: ((statuses: TaskStatus[]) => void) | null;
}

export const Column = memo(function Column(given: ColumnProps) {
  const { lane, status, cards, short, hidden, onMore, names, at, press, onOpen, onSelect, carried } = given;
  const { t } = useTranslation("board");
  const frame = useRef<HTMLDivElement>(null);
  const verdict = verdictOf(carried, status);
  const { setNodeRef, isOver } = useDroppable({ id: `${lane}|${status}` });
  const virtual = useCards(cards, frame);
  const place = useMemo(() => (at === null ? -1 : cards.findIndex((each) => each.task_id === at)), [at, cards]);
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place);
  }, [place, virtual]);
  return (
    <div
      ref={setNodeRef}
      role="group"
      aria-label={t(`status.${status}`)}
      data-column={status}
      className={`relative flex min-h-16 flex-col rounded-lg bg-sunken/70 ${short ? "max-h-[26rem]" : "h-full min-h-0"} ${isOver && verdict.allowed ? "ring-2 ring-accent" : ""}`}
    >
      <div ref={frame} className="min-h-0 flex-1 overflow-y-auto px-2">
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const card = cards[item.index];
            return (
              card !== undefined && (
                <Card
                  key={item.key}
                  card={card}
                  who={card.assignee_id === null ? null : (names.get(card.assignee_id) ?? card.assignee_id)}
                  selected={card.task_id === at}
                  carried={card.task_id === carried?.card.task_id}
                  index={item.index}
                  start={item.start}
                  measure={virtual.measureElement}
                  {...{ press, t, onOpen, onSelect }}
                />
              )
            );
          })}
        </div>
        {hidden > 0 && (
          <div className="flex justify-center pb-2">
            <Button small disabled={onMore === null} onClick={() => onMore?.([status])}>
              {t("older.column", { count: hidden })}
            </Button>
          </div>
        )}
      </div>
      {carried !== null && !verdict.allowed && (
        <div
          data-refused={status}
          className="absolute inset-0 z-10 flex flex-col items-center justify-start gap-1 overflow-hidden rounded-lg bg-sunken/95 p-3 pt-6 text-center text-xs text-soft"
        >
          <Ban size={18} className="shrink-0 text-faint" aria-hidden />
          <p>{verdict.reason ?? t("looking")}</p>
        </div>
      )}
    </div>
  );
});

/** The cards that are seen, as high as others of their kind have turned out to be. */
function useCards(cards: BoardTask[], frame: RefObject<HTMLDivElement | null>) {
  const measured = useRef(new Map<string, number>());
  const guess = (index: number) => {
    const kind = kindAt(index);
    return measured.current.get(kind) ?? firstGuess(kind);
  };
  const kindAt = (index: number) => {
    const card = cards[index];
    return card === undefined ? "" : kindOf(card, frame.current?.clientWidth ?? 0);
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
    getScrollElement: () => frame.current,
    estimateSize: guess,
    measureElement: measure,
    getItemKey: useCallback((index: number) => cards[index]?.task_id ?? index, [cards]), // a new one measures again
    gap: GAP_PX,
    paddingStart: GAP_PX,
    paddingEnd: GAP_PX,
    overscan: 6,
  });
}

/** What the server says of a move to this column. Where it stands already, nothing is said. */
function verdictOf(carried: Shown["carried"], status: TaskStatus): { allowed: boolean; reason: string | null } {
  if (carried === null || carried.card.status === status || carried.moves === null)
    return { allowed: true, reason: null };
  const move = carried.moves.find((each) => each.status === status);
  return move === undefined ? { allowed: true, reason: null } : { allowed: move.allowed, reason: move.reason };
}
