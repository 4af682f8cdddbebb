// The event log of a project: read once from its beginning, and grown by what happens.
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useCallback } from "react";

import type { Event } from "@/api/model";
import { eventLog } from "@/api/whole-lists";
import { useEvents } from "@/app/live";

export function useLog(projectId: string, kind: string, enabled = true): UseQueryResult<Event[]> {
  const client = useQueryClient();
  const hear = useCallback(
    (event: Event) => {
      if (event.project_id !== projectId || !event.kind.startsWith(kind)) return;
      client.setQueryData<Event[]>(eventLog(projectId, kind).queryKey, (known) =>
        known === undefined || event.sequence <= (known.at(-1)?.sequence ?? 0) ? known : [...known, event],
      );
    },
    [client, projectId, kind],
  );
  useEvents(hear);
  return useQuery({ ...eventLog(projectId, kind), enabled });
}
