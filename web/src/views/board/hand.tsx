// What picks cards up. There is one for the whole board, and it takes the card that is pressed: a draggable for each
// card cost more than everything else that a card does while one scrolls.
import { useDraggable } from "@dnd-kit/core";
import { useImperativeHandle, useLayoutEffect, useRef, useState, type RefObject, type SyntheticEvent } from "react";
import { flushSync } from "react-dom";

export type Press = (event: SyntheticEvent<HTMLElement>) => void;

/** The element that tells screen readers how. */
export const HOW_TO_CARRY = "how-to-carry";

const LISTENERS: Record<string, string> = {
  mousedown: "onMouseDown",
  touchstart: "onTouchStart",
  keydown: "onKeyDown",
};

/** Stands inside of the context; `press` hears of a pressed card before the sensors do. */
export function Hand({ press }: { press: RefObject<Press | null> }) {
  const [held, hold] = useState("");
  const { active, listeners, setNodeRef } = useDraggable({ id: held });
  const latest = useRef(listeners);
  useLayoutEffect(() => {
    latest.current = listeners;
  }, [listeners]);
  useImperativeHandle(press, () => (event) => {
    const node = event.currentTarget;
    if (active !== null || ("key" in event && event.key !== " ")) return;
    flushSync(() => hold(node.dataset.card ?? ""));
    setNodeRef(node);
    latest.current?.[LISTENERS[event.type] ?? ""]?.(event);
  });
  return null;
}
