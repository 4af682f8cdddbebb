// The forecast of a project: when its open tasks will be done, and what they will cost.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject } from "@/api/routes";

export const forecast = (projectId: string) =>
  queryOptions({
    queryKey: ["forecast", projectId],
    queryFn: () => api.get("/projects/{project_id}/forecast", inProject(projectId)),
    refetchInterval: ({ state }) => (state.data !== undefined && underWay(state.data.state) ? 2_000 : false), // no event
  });

export const underWay = (state: string) => state === "waiting" || state === "running";

/** `refresh`: again, although there is one that is not old. */
export function startForecast(projectId: string, processes: number, refresh: boolean) {
  const body = { max_concurrent: processes, refresh };
  return api.post("/projects/{project_id}/forecast", { ...inProject(projectId), body });
}
