// One card: title, assignee, priority, and what it waits for. Drawn the same while it is dragged.
//
// Hundreds mount and unmount during scrolling, so a card has no hooks but the one for its focus: texts, drag state and
// position are props.
import type { TFunction } from "i18next";
import { Activity, ListTree, Link2, RotateCcw, ShieldQuestion } from "lucide-react";
import { memo, useEffect, useLayoutEffect, useRef, type KeyboardEvent, type ReactNode, type RefObject } from "react";

import { isFinal, type BoardTask } from "@/api/model";
import { Avatar, Badge, PriorityIcon } from "@/ui";
import { HOW_TO_CARRY, type Press } from "@/views/board/hand";

interface CardProps {
  card: BoardTask;
  who: string | null;
  selected: boolean;
  carried: boolean;
  /** Hears of a card that is pressed: it may be picked up. */
  press: RefObject<Press | null>;
  t: TFunction;
  /** Where it stands in its column. */
  index: number;
  start: number;
  measure: (node: Element | null) => void;
  onOpen: (taskId: string) => void;
  onSelect: (taskId: string) => void;
}

export const Card = memo(function Card(given: CardProps) {
  const { card, who, selected, carried, press, t, index, start, measure, onOpen, onSelect } = given;
  const node = useRef<HTMLDivElement | null>(null);
  useEffect(() => {
    if (selected && !node.current?.contains(document.activeElement)) node.current?.focus({ preventScroll: true });
  }, [selected]);
  useLayoutEffect(() => measure(node.current), [measure, index]);
  return (
    <div
      ref={node}
      role="button"
      aria-roledescription={t("drag.role")}
      aria-describedby={HOW_TO_CARRY}
      tabIndex={0}
      data-card={card.task_id}
      data-index={index}
      onFocus={() => onSelect(card.task_id)}
      onClick={() => onOpen(card.task_id)}
      onMouseDown={(event) => press.current?.(event)}
      onTouchStart={(event) => press.current?.(event)}
      onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
        if (event.key === "Enter" && !carried) onOpen(card.task_id);
        else press.current?.(event);
      }}
      className={`absolute top-0 left-0 w-full cursor-pointer touch-manipulation rounded-lg outline-offset-1 ${carried ? "opacity-40" : ""}`}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Face card={card} who={who} t={t} />
    </div>
  );
});

interface FaceProps {
  card: BoardTask;
  who: string | null;
  t: TFunction;
  carried?: boolean;
}

export function Face({ card, who, t, carried = false }: FaceProps) {
  const closed = isFinal(card);
  return (
    <article
      className={`space-y-2 rounded-lg border bg-panel p-2.5 transition-shadow ${card.running ? "border-blue/50" : "border-line"} ${carried ? "rotate-1 shadow-[var(--shadow)]" : "hover:border-line-strong hover:shadow-sm"}`}
    >
      <div className="flex items-start gap-2 [&>svg]:mt-0.5">
        <PriorityIcon priority={card.priority} />
        <p className={`line-clamp-3 min-w-0 flex-1 leading-snug break-words ${closed ? "text-soft" : ""}`}>
          {card.title}
        </p>
        {(who !== null || card.agent_type !== null) && (
          <span title={who ?? card.agent_type ?? ""}>
            <Avatar id={card.assignee_id ?? card.agent_type ?? ""} name={who ?? card.agent_type ?? ""} size={20} />
            <span className="sr-only">{who ?? card.agent_type}</span>
          </span>
        )}
      </div>
      {card.status === "blocked" && card.blocked_reason !== null && (
        <div className="rounded bg-amber-soft px-1.5 py-1 text-xs text-amber">
          <p className="line-clamp-2 break-words">{card.blocked_reason}</p>
        </div>
      )}
      <Signs card={card} t={t} />
      {card.approval === "pending_approval" && (
        <Badge tone="accent">
          <ShieldQuestion size={12} aria-hidden />
          {t("approval.pending")}
        </Badge>
      )}
      {card.approval === "rejected" && <Badge tone="red">{t("approval.rejected")}</Badge>}
    </article>
  );
}

function Signs({ card, t }: { card: BoardTask; t: TFunction }) {
  const { children, children_done: done, dependencies, attempt, running } = card;
  if (!running && children === 0 && dependencies.length === 0 && attempt <= 1) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-faint">
      {running && (
        <Sign words={t("running")} tone="animate-pulse text-blue">
          <Activity size={13} aria-hidden />
        </Sign>
      )}
      {children > 0 && (
        <Sign words={t("children", { done, all: children })}>
          <ListTree size={13} aria-hidden />
          <span aria-hidden>
            {done}/{children}
          </span>
        </Sign>
      )}
      {dependencies.length > 0 && (
        <Sign words={t("waits", { count: dependencies.length })}>
          <Link2 size={13} aria-hidden />
          <span aria-hidden>{dependencies.length}</span>
        </Sign>
      )}
      {attempt > 1 && (
        <Sign words={t("attempt", { count: attempt })}>
          <RotateCcw size={12} aria-hidden />
          <span aria-hidden>{attempt}</span>
        </Sign>
      )}
    </div>
  );
}

function Sign({ words, tone = "", children }: { words: string; tone?: string; children: ReactNode }) {
  return (
    <span title={words} className={`inline-flex items-center gap-1 tabular-nums ${tone}`}>
      {children}
      <span className="sr-only">{words}</span>
    </span>
  );
}
