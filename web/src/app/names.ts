// What people call agents and tasks: their ids stand in events, launches and sums.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { agents, board, titleKnown } from "@/api/queries";
import type { Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";

export function useNames(projectId: string): Names {
  const { t } = useTranslation();
  const people = useQuery(agents).data;
  const cards = useQuery({ ...board(projectId), enabled: projectId !== "" }).data;
  return useMemo(() => {
    const ofAgents = new Map(people?.map((each) => [each.agent_id, each.name]));
    const ofTasks = new Map(cards?.tasks.map((each) => [each.task_id, each.title]));
    return {
      agent: (id) => ofAgents.get(id) ?? id,
      task: (id) => ofTasks.get(id) ?? titleKnown(id) ?? t("chip.older"),
    };
  }, [people, cards, t]);
}
