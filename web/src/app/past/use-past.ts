// A project's past: its changes, read while one looks back, and the cards as they stood at the instant that is shown.
import { useMemo } from "react";

import type { BoardTask } from "@/api/model";
import { late, useLate } from "@/ui";
import type { Change } from "./board-at";
import { usePast } from "./past";
import { useLog } from "./use-log";

const NONE: Change[] = [];
const replay = late(() => import("./board-at"));

/** `changes` is null until they are known. */
export function useChanges(projectId: string) {
  const { at } = usePast();
  const log = useLog(projectId, "task.", at !== null);
  const events = log.data;
  const part = useLate(replay, at !== null);
  const changes = useMemo(() => (events === undefined ? null : (part?.changesOf(events) ?? null)), [events, part]);
  const stops = useMemo(() => part?.stopsOf(changes ?? NONE) ?? [], [changes, part]);
  return { changes, stops, error: log.error, retry: () => void log.refetch() };
}

/** The cards as they were at the instant that the page shows; undefined until that is known. */
export function useCardsThen(projectId: string, cards: BoardTask[] | undefined): BoardTask[] | undefined {
  const { at } = usePast();
  const { changes } = useChanges(projectId);
  const part = useLate(replay, at !== null);
  return useMemo(() => {
    if (at === null || cards === undefined) return cards;
    return changes === null ? undefined : part?.boardAt(cards, changes, at);
  }, [at, cards, changes, part]);
}
