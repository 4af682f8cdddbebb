// What is read of schedules.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject, ofSchedule } from "@/api/routes";

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
