// What a line may name in a project: its agents, its tasks (those on the board, and what the server finds by the words
// that were typed), the priorities in the words of the page.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { PRIORITIES } from "@/api/filter";
import { board, foundTasks, members } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";

import { parsed, type Known } from "./line";
import type { Active } from "./suggesting";

const NONE: never[] = [];

export function useKnown(projectId: string, lines: readonly string[], active: Active | null): Known {
  const { t } = useTranslation();
  const team = useQuery(members(projectId)).data ?? NONE;
  const cards = useQuery(board(projectId)).data?.tasks ?? NONE;
  const here = useMemo<Known>(
    () => ({
      agents: team.filter((each) => each.status === "active").map((each) => ({ id: each.agent_id, name: each.name })),
      tasks: cards.map(({ task_id: id, title, status, created_at }) => ({ id, title, status, created_at })),
      priorities: PRIORITIES.map((id) => ({
        id,
        names: [t(`priority.${id}`), ...(id === "critical" ? ["urgent"] : [])],
      })),
    }),
    [team, cards, t],
  );
  const words = wanted(lines, active, here);
  const more = useQuery({
    ...foundTasks(words, projectId),
    enabled: words.length > 1,
    placeholderData: (before) => before,
  }).data;
  return useMemo(() => {
    const there = new Set(here.tasks.map((each) => each.id));
    const found = (more ?? []).filter((each) => each.project_id === projectId && !there.has(each.task_id));
    const tasks = found.map(({ task_id: id, title, status }) => ({ id, title, status, created_at: "" }));
    return { ...here, tasks: [...here.tasks, ...tasks] };
  }, [here, more, projectId]);
}

/** The words of a task that is not on the board: what is being typed, else the first one that was not found. */
function wanted(lines: readonly string[], active: Active | null, here: Known): string {
  const isTask = (each: { kind: string }) => each.kind === "after" || each.kind === "under";
  if (active !== null && isTask(active)) return active.said.trim();
  return (
    lines
      .flatMap((line) => parsed(line, here).mistakes)
      .find(isTask)
      ?.said.trim() ?? ""
  );
}
