// Carrying cards: by pointer, finger and keyboard. It stands beside the columns, so that it can come later than they do.
import { DndContext, DragOverlay, MeasuringStrategy, useDraggable, useDroppable } from "@dnd-kit/core";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";

import type { BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { useAreas } from "@/views/board/areas";
import { Face } from "@/views/board/face";
import { columnOf, underPointer, useAnnouncements, useCarrying } from "@/views/board/carrying";
import type { Moving } from "@/views/board/moving";
import type { Press, Waiting } from "@/views/board/press";

const MEASURING = { droppable: { strategy: MeasuringStrategy.Always } };

interface CarryProps {
  tasks: BoardTask[];
  titles: Map<string, string>;
  names: Map<string, string>;
  moving: Moving;
  press: RefObject<Press | null>;
  /** What was pressed before this was here. */
  waiting: Waiting | null;
  taken: () => void;
}

export function Carry({ tasks, titles, names, moving, press, waiting, taken }: CarryProps) {
  const { t } = useTranslation("board");
  const announcements = useAnnouncements((id) => titles.get(id) ?? id);
  const card = moving.carried?.card;
  return (
    <DndContext
      id="board"
      sensors={useCarrying()}
      collisionDetection={underPointer}
      measuring={MEASURING}
      accessibility={{ announcements, screenReaderInstructions: { draggable: t("drag.how") } }}
      onDragStart={({ active }) => {
        const picked = tasks.find((each) => each.task_id === active.id);
        if (picked !== undefined) moving.pick(picked);
      }}
      onDragEnd={({ over }) => moving.drop(columnOf(over?.id))}
      onDragCancel={() => moving.drop(null)}
    >
      <Hand {...{ press, waiting, taken }} />
      {[...useAreas()].map(([id, node]) => (
        <Area key={id} id={id} node={node} />
      ))}
      <DragOverlay dropAnimation={null}>
        {card !== undefined && (
          <Face card={card} who={names.get(card.assignee_id ?? "") ?? card.assignee_id} t={t} carried />
        )}
      </DragOverlay>
    </DndContext>
  );
}

function Area({ id, node }: { id: string; node: HTMLElement }) {
  const { setNodeRef, isOver } = useDroppable({ id });
  useLayoutEffect(() => {
    setNodeRef(node);
    return () => setNodeRef(null);
  }, [setNodeRef, node]);
  useLayoutEffect(() => {
    node.toggleAttribute("data-over", isOver);
  }, [node, isOver]);
  return null;
}

const LISTENERS: Record<string, string> = {
  mousedown: "onMouseDown",
  touchstart: "onTouchStart",
  keydown: "onKeyDown",
};

/**
 * There is one for the whole board, and it takes the card that is pressed: a draggable for each card cost more than
 * everything else that a card does while one scrolls. `press` hears of a pressed card before the sensors do.
 */
function Hand({ press, waiting, taken }: Pick<CarryProps, "press" | "waiting" | "taken">) {
  const [held, hold] = useState("");
  const { active, listeners, setNodeRef } = useDraggable({ id: held });
  const latest = useRef(listeners);
  useLayoutEffect(() => {
    latest.current = listeners;
  }, [listeners]);
  useImperativeHandle(press, () => (event) => {
    const node = event.currentTarget;
    if (active !== null || (event.key !== undefined && event.key !== " ")) return;
    flushSync(() => hold(node.dataset.card ?? ""));
    setNodeRef(node);
    latest.current?.[LISTENERS[event.type] ?? ""]?.(event);
  });
  const first = useRef(waiting);
  useEffect(() => {
    const was = first.current;
    first.current = null;
    if (was === null) return;
    window.setTimeout(() => {
      again(was, press.current);
      taken();
    });
  }, [press, taken]);
  return null;
}

function again({ moved, ...was }: Waiting, press: Press | null): void {
  if (was.key !== undefined) return; // it is held, and pressed again with those that followed
  press?.(was);
  if (moved === null) return;
  const move = () => document.dispatchEvent(new MouseEvent("mousemove", moved));
  move(); // the first one picks up, the next one carries
  requestAnimationFrame(move);
}
