// What is read of memories.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject } from "@/api/routes";
import { PAGE, whole } from "@/api/whole-lists";

/** Of a project, the newest first; all of them. */
export const memories = (projectId: string) =>
  queryOptions({
    queryKey: ["memories", projectId],
    queryFn: ({ signal }) =>
      whole(async (cursor: string | undefined) => {
        const query = { limit: PAGE, cursor };
        const answer = await api.get("/projects/{project_id}/memories", { ...inProject(projectId), query, signal });
        return [answer.memories, answer.next_cursor];
      }),
  });

/** What has these words: memories, reports of completed tasks, handoffs, conversations. */
export const knowledge = (projectId: string, words: string) =>
  queryOptions({
    queryKey: ["memories", projectId, "found", words],
    queryFn: () =>
      api
        .get("/projects/{project_id}/knowledge", { ...inProject(projectId), query: { query: words } })
        .then((answer) => answer.found),
  });
