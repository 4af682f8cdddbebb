// The board by keyboard: from card to card, and what can be done with the one that is chosen.
import type { RefObject } from "react";

import type { BoardTask } from "@/api/model";
import type { Marks } from "@/app/bulk";
import { useKeys, type Key } from "@/app/keys";
import { useWrites } from "@/app/may";
import { useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { neighbour, type Lane } from "@/views/board/lanes";
import type { Moving } from "@/views/board/moving";

interface Given {
  lanes: Lane[];
  at: string | null;
  put: (taskId: string | null) => void;
  open: (taskId: string) => void;
  moving: Moving;
  field: RefObject<HTMLInputElement | null>;
  marks: Marks;
}

export function useBoardKeys({ lanes, at, put, open, moving, field, marks }: Given): void {
  const { t } = useTranslation("board");
  const { task: shown } = useSearch();
  const go = (step: Parameters<typeof neighbour>[2]) => () => {
    if (moving.carried !== null) return;
    const next = neighbour(lanes, at ?? shown ?? null, step);
    put(next);
    if (shown !== undefined && next !== null) open(next); // the panel shows it, too
  };
  const onCard = (act: (card: BoardTask) => void) => () => {
    const card = lanes.flatMap((each) => Object.values(each.cards).flat()).find((each) => each.task_id === at);
    if (card !== undefined && moving.carried === null) act(card);
  };
  const steps: Key[] = [
    { key: "j", words: t("keyDown"), run: go("down") },
    { key: "k", words: t("keyUp"), run: go("up") },
    { key: "l", words: t("keyRight"), run: go("right") },
    { key: "h", words: t("keyLeft"), run: go("left") },
    { key: "Enter", words: t("keyOpen"), run: onCard((card) => open(card.task_id)) },
  ];
  const acts: Key[] = [
    {
      key: "a",
      words: t("keyApprove"),
      run: onCard((card) => card.approval === "pending_approval" && open(card.task_id)), // it is read before
    },
    { key: "r", words: t("keyRetry"), run: onCard((card) => retry(card, moving)) },
    { key: "x", words: t("bulk.mark"), run: onCard((card) => marks.mark(card.task_id, false)) },
    { key: "X", words: t("bulk.mark"), run: onCard((card) => marks.mark(card.task_id, true)) },
    { key: "Escape", words: t("bulk.unselect"), run: marks.none },
    { key: "Backspace", words: t("keyCancel"), run: onCard((card) => moving.put(card, "cancelled")) },
  ];
  const search: Key = { key: "/", words: t("keySearch"), run: () => field.current?.focus() };
  useKeys([...steps, ...(useWrites() ? acts : []), search]);
}

function retry(card: BoardTask, moving: Moving): void {
  if (card.approval === "pending_approval") moving.reject(card);
  else if (card.status === "failed" || card.status === "blocked") moving.put(card, "todo");
}
