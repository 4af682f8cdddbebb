// What is read of memories.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject } from "@/api/routes";

/** Of a project, the newest first: the last 200. */
export const memories = (projectId: string) =>
  queryOptions({
    queryKey: ["memories", projectId],
    queryFn: () =>
      api
        .get("/projects/{project_id}/memories", { ...inProject(projectId), query: { limit: 200 } })
        .then((answer) => answer.memories),
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
