// One card: where it stands, and what is done with it. What it shows is its face (face.tsx).
//
// Hundreds mount and unmount during scrolling, so a card has no hooks but the one for its focus: texts, drag state and
// position are props.
import { memo, useEffect, useLayoutEffect, useRef, type KeyboardEvent, type RefObject } from "react";

import type { BoardTask } from "@/api/model";
import type { TFunction } from "@/i18n/words";
import { Face } from "@/views/board/face";
import type { Stands } from "@/views/board/first-cards";
import { HOW_TO_CARRY, type Press } from "@/views/board/press";

interface CardProps extends Stands {
  card: BoardTask;
  who: string | null;
  selected: boolean;
  carried: boolean;
  marked: boolean;
  /** Hears of a card that is pressed: it may be picked up. */
  press: RefObject<Press | null>;
  t: TFunction;
  onOpen: (taskId: string) => void;
  onSelect: (taskId: string) => void;
  onMark: ((taskId: string, until: boolean) => void) | null;
}

export const Card = memo(function Card(given: CardProps) {
  const { card, who, selected, carried, marked, press, t, index, start, measure, onOpen, onSelect, onMark } = given;
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
      onClick={(event) => {
        const marks = event.shiftKey || event.metaKey || event.ctrlKey;
        if (marks && onMark !== null) onMark(card.task_id, event.shiftKey);
        else onOpen(card.task_id);
      }}
      onMouseDown={(event) => {
        if (event.shiftKey)
          event.preventDefault(); // it would select the text up to here
        else press.current?.(event);
      }}
      onTouchStart={(event) => press.current?.(event)}
      onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
        if (event.key === "Enter" && !carried) onOpen(card.task_id);
        else press.current?.(event);
      }}
      className={`w-full cursor-pointer touch-manipulation rounded-lg outline-offset-1 ${start === null ? "" : "absolute top-0 left-0"} ${carried ? "opacity-40" : ""}`}
      style={start === null ? {} : { transform: `translateY(${start}px)` }}
    >
      <Face card={card} who={who} t={t} marked={marked} />
    </div>
  );
});
