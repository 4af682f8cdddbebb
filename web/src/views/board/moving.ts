// Carrying cards: what the server allows is asked when one is picked up; a drop shows at once, is taken back with the
// server's reason, and can be undone where the server lets it.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { WANTS_REASON, mayMove, moveCard, rejectTask } from "@/api/actions";
import { Refused } from "@/api/client";
import type { Board, BoardTask, Move, TaskStatus } from "@/api/model";
import { board, moves } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

export interface Asking {
  card: BoardTask;
  /** The column, or a request that is rejected. */
  to: TaskStatus | "rejected";
}

export interface Moving {
  carried: { card: BoardTask; moves: Move[] | null } | null;
  asking: Asking | null;
  pick: (card: BoardTask) => void;
  drop: (to: TaskStatus | null) => void;
  /** Without carrying: by a key or a menu. */
  put: (card: BoardTask, to: TaskStatus) => void;
  reject: (card: BoardTask) => void;
  said: (reason: string) => void;
  close: () => void;
}

export function useMoving(projectId: string): Moving {
  const { t } = useTranslation("board");
  const client = useQueryClient();
  const toast = useToast();
  const [carried, setCarried] = useState<Moving["carried"]>(null);
  const [asking, setAsking] = useState<Asking | null>(null);

  function pick(card: BoardTask) {
    setCarried({ card, moves: null });
    const known = (found: Move[] | null) =>
      setCarried((now) => (now?.card.task_id === card.task_id ? { ...now, moves: found } : now));
    client.fetchQuery(moves(card.task_id)).then(
      (answer) => known(answer.moves),
      () => known(null),
    );
  }

  function drop(to: TaskStatus | null) {
    setCarried(null);
    if (carried === null || to === null || to === carried.card.status) return;
    const verdict = carried.moves?.find((each) => each.status === to);
    if (verdict !== undefined && !verdict.allowed) toast.failed(refusalOf(verdict));
    else if (WANTS_REASON.includes(to)) setAsking({ card: carried.card, to });
    else void move(carried.card, to);
  }

  function put(card: BoardTask, to: TaskStatus) {
    if (WANTS_REASON.includes(to)) setAsking({ card, to });
    else void move(card, to);
  }

  async function move(card: BoardTask, to: TaskStatus, reason?: string, undone = false) {
    try {
      const task = await moveCard(client, projectId, card, to, reason);
      const back = !undone && (await mayMove(client, card.task_id, card.status));
      const words = t("moved", { title: card.title, status: t(`status.${task.status}`) });
      toast.done(words, back ? () => void undo(card, to) : undefined);
    } catch (error) {
      toast.failed(error);
    }
  }

  function undo(card: BoardTask, from: TaskStatus) {
    const now = client
      .getQueryData<Board>(board(projectId).queryKey)
      ?.tasks.find((each) => each.task_id === card.task_id);
    return move(
      { ...(now ?? card), status: now?.status ?? from },
      card.status,
      WANTS_REASON.includes(card.status) ? (card.blocked_reason ?? t("undoReason")) : undefined,
      true,
    );
  }

  async function reject(card: BoardTask, reason: string) {
    try {
      await rejectTask(card.task_id, reason);
      toast.done(t("rejected", { title: card.title }));
    } catch (error) {
      toast.failed(error);
    } finally {
      await client.invalidateQueries({ queryKey: board(projectId).queryKey });
    }
  }

  function said(reason: string) {
    if (asking === null) return;
    const { card, to } = asking;
    if (to === "rejected") void reject(card, reason);
    else void move(card, to, reason === "" ? undefined : reason);
  }

  return {
    carried,
    asking,
    pick,
    drop,
    put,
    reject: (card) => setAsking({ card, to: "rejected" }),
    said,
    close: () => setAsking(null),
  };
}

/** What the server has said of a move before it was tried, as the refusal that trying it would have been. */
function refusalOf({ code, reason, instruction }: Move): Refused {
  return new Refused({
    status: 409,
    code: code ?? "",
    title: reason ?? "",
    detail: reason ?? "",
    instruction: instruction ?? "",
  });
}
