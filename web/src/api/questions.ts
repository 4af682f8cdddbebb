// What agents have asked people.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject } from "@/api/routes";

/** What the agent of a task has asked people, the newest first. */
export const questionsOf = (projectId: string, taskId: string) =>
  queryOptions({
    queryKey: ["questions", projectId, taskId],
    queryFn: () =>
      api
        .get("/projects/{project_id}/questions", { ...inProject(projectId), query: { task_id: taskId } })
        .then((answer) => answer.questions),
  });

/** What waits for an answer in a project, the oldest first. */
export const openQuestions = (projectId: string) =>
  queryOptions({
    queryKey: ["questions", projectId, "open"],
    queryFn: () =>
      api
        .get("/projects/{project_id}/questions", { ...inProject(projectId), query: { state: "open" } })
        .then((answer) => answer.questions.toReversed()),
  });
