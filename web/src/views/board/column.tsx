// One column of a lane: only the cards that are seen are drawn. While a card is carried it says whether it takes it.
import { Ban } from "lucide-react";
import { createElement, memo, useMemo, useState, type RefObject } from "react";

import type { BoardTask, Move, TaskStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Button, Told, late, useLate, useLetGo } from "@/ui";
import { useArea } from "@/views/board/areas";
import { Card } from "@/views/board/card";
import { FirstCards } from "@/views/board/first-cards";
import type { Press } from "@/views/board/press";

/** Draws only the cards that are seen. */
const seen = late(() => import("@/views/board/seen-cards").then((part) => part.SeenCards));

export interface Shown {
  names: Map<string, string>;
  at: string | null;
  onOpen: (taskId: string) => void;
  onSelect: (taskId: string) => void;
  marked: ReadonlySet<string>;
  /** null: who looks may change nothing, so nothing is marked. */
  onMark: ((taskId: string, until: boolean) => void) | null;
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
  const { marked, onMark } = given;
  const { t } = useTranslation("board");
  const [frame, setFrame] = useState<HTMLDivElement | null>(null); // a ref is still empty when the cards look for it
  const verdict = verdictOf(carried, status);
  const place = useMemo(() => (at === null ? -1 : cards.findIndex((each) => each.task_id === at)), [at, cards]);
  return (
    <div
      ref={useArea(lane, status)}
      role="group"
      aria-label={t(`status.${status}`)}
      data-column={status}
      className={`relative flex min-h-16 flex-col rounded-lg bg-sunken/70 ${short ? "max-h-[26rem]" : "h-full min-h-0"} ${verdict.allowed ? "data-over:ring-2 data-over:ring-accent" : ""}`}
    >
      <div ref={setFrame} className="min-h-0 flex-1 overflow-y-auto px-2">
        {createElement(useLetGo(useLate(seen)) ?? FirstCards, {
          cards,
          frame,
          place,
          draw: (card, stands) => (
            <Card
              key={card.task_id}
              card={card}
              who={card.assignee_id === null ? null : (names.get(card.assignee_id) ?? card.assignee_id)}
              selected={card.task_id === at}
              carried={card.task_id === carried?.card.task_id}
              marked={marked.has(card.task_id)}
              {...stands}
              {...{ press, t, onOpen, onSelect, onMark }}
            />
          ),
        })}
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
          <p>{verdict.reason === null ? t("looking") : <Told text={verdict.reason} />}</p>
        </div>
      )}
    </div>
  );
});

/** What the server says of a move to this column. Where it stands already, nothing is said. */
export function verdictOf(carried: Shown["carried"], status: TaskStatus): { allowed: boolean; reason: string | null } {
  if (carried === null || carried.card.status === status || carried.moves === null)
    return { allowed: true, reason: null };
  const move = carried.moves.find((each) => each.status === status);
  return move === undefined ? { allowed: true, reason: null } : { allowed: move.allowed, reason: move.reason };
}
