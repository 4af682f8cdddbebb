// What is read of schedules, and done with them.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject, ofSchedule, type BodyOf } from "@/api/routes";

/** Of a project, the oldest first. */
export const schedules = (projectId: string) =>
  queryOptions({
    queryKey: ["schedules", projectId],
    queryFn: () => api.get("/projects/{project_id}/schedules", inProject(projectId)).then((answer) => answer.schedules),
  });

/** The last twenty, the newest first. */
export const scheduleRuns = (scheduleId: string) =>
  queryOptions({
    queryKey: ["schedules", "runs", scheduleId],
    queryFn: () =>
      api
        .get("/schedules/{schedule_id}/runs", { ...ofSchedule(scheduleId), query: { limit: 20 } })
        .then((answer) => answer.runs),
  });

/** The next times of a cron expression. */
export const scheduleTimes = (cron: string, timeZone: string) =>
  queryOptions({
    queryKey: ["schedule-times", cron, timeZone],
    queryFn: () => api.get("/schedule-times", { query: { cron, time_zone: timeZone } }).then((answer) => answer.times),
  });

type New = BodyOf<"post", "/projects/{project_id}/schedules">;
type Changes = BodyOf<"patch", "/schedules/{schedule_id}">;

export const addSchedule = (projectId: string, body: New, idempotencyKey: string) =>
  api.post("/projects/{project_id}/schedules", { ...inProject(projectId), body, idempotencyKey });
export const editSchedule = (id: string, body: Changes) =>
  api.patch("/schedules/{schedule_id}", { ...ofSchedule(id), body });
export const pauseSchedule = (id: string) =>
  api.post("/schedules/{schedule_id}/pause", { ...ofSchedule(id), body: {} });
export const runSchedule = (id: string) => api.post("/schedules/{schedule_id}/run", ofSchedule(id));
export const deleteSchedule = (id: string) => api.delete("/schedules/{schedule_id}", ofSchedule(id));
