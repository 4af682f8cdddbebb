// Picking up with the pointer, a finger or the keyboard: the arrow keys lead from column to column of a lane.
import {
  KeyboardCode,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  closestCenter,
  pointerWithin,
  useSensor,
  useSensors,
  type Announcements,
  type CollisionDetection,
  type KeyboardCoordinateGetter,
} from "@dnd-kit/core";

import { useWrites } from "@/app/may";
import { STATUSES, type TaskStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";

/** Viewers cannot drag cards. */
export function useCarrying() {
  const none = useSensors();
  const all = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 220, tolerance: 8 } }),
    useSensor(KeyboardSensor, {
      coordinateGetter: toNextColumn,
      keyboardCodes: {
        start: [KeyboardCode.Space],
        cancel: [KeyboardCode.Esc],
        end: [KeyboardCode.Space, KeyboardCode.Enter],
      },
    }),
  );
  return useWrites() ? all : none;
}

/** The column under the pointer; carried by keys, the one whose middle the card is at: a folded one is narrower. */
export const underPointer: CollisionDetection = (args) => {
  const under = pointerWithin(args);
  return under.length > 0 || args.pointerCoordinates !== null ? under : closestCenter(args);
};

export function columnOf(over: string | number | undefined): TaskStatus | null {
  const name = String(over ?? "")
    .split("|")
    .at(-1);
  return STATUSES.find((each) => each === name) ?? null;
}

const toNextColumn: KeyboardCoordinateGetter = (event, { context }) => {
  const step = event.code === KeyboardCode.Right ? 1 : event.code === KeyboardCode.Left ? -1 : 0;
  const { collisionRect, droppableRects, droppableContainers } = context;
  if (step === 0 || collisionRect === null) return undefined;
  event.preventDefault();
  const middle = collisionRect.left + collisionRect.width / 2;
  const row = collisionRect.top + Math.min(collisionRect.height, 40) / 2;
  const columns = droppableContainers
    .getEnabled()
    .flatMap(({ id }) => droppableRects.get(id) ?? [])
    .filter((each) => each.top <= row && row <= each.bottom)
    .toSorted((one, other) => one.left - other.left);
  const beyond = (each: { left: number; right: number }) => (step > 0 ? each.left > middle : each.right < middle);
  const next = step > 0 ? columns.find(beyond) : columns.findLast(beyond);
  return next === undefined
    ? undefined
    : { x: next.left + (next.width - collisionRect.width) / 2, y: collisionRect.top };
};

/** What is said to who cannot see the card being carried. */
export function useAnnouncements(titleOf: (taskId: string) => string): Announcements {
  const { t } = useTranslation("board");
  const words = (id: string | number) => titleOf(String(id));
  const over = (found: { id: string | number } | null) => {
    const status = columnOf(found?.id);
    return status === null ? null : t(`status.${status}`);
  };
  return {
    onDragStart: ({ active }) => t("drag.start", { title: words(active.id) }),
    onDragOver: ({ active, over: found }) => {
      const status = over(found);
      const title = words(active.id);
      return status === null ? t("drag.outside", { title }) : t("drag.over", { title, status });
    },
    onDragEnd: ({ active, over: found }) => {
      const status = over(found);
      const title = words(active.id);
      return status === null ? t("drag.cancel", { title }) : t("drag.end", { title, status });
    },
    onDragCancel: ({ active }) => t("drag.cancel", { title: words(active.id) }),
  };
}
