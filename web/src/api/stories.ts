// What happened: everything that one request has caused, one task's story, and what is new since one left.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";

/** Everything that belongs to one request: its correlation id, or the id of one of its tasks. */
export const trace = (id: string) =>
  queryOptions({
    queryKey: ["trace", id],
    queryFn: () => api.get("/traces/{correlation_id}", { path: { correlation_id: id } }),
    refetchOnMount: "always",
  });

/** The story of one task: the trace of it and everything below. */
export const story = (taskId: string) =>
  queryOptions({
    queryKey: ["trace", taskId, "below"],
    queryFn: () => api.get("/traces/{correlation_id}", { path: { correlation_id: taskId }, query: { below: true } }),
    refetchOnMount: "always",
  });

/** What happened since then, task by task. `told`: how much of it the overview counts; with more it is read again. */
export const news = (projectId: string | null, since: string, told: number) =>
  queryOptions({
    queryKey: ["news", projectId, since, told],
    queryFn: () => api.get("/news", { query: { project_id: projectId, since } }),
    placeholderData: (known) => known,
  });
