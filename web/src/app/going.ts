// Where one is, and how one gets to a task: the same from every view.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";

import type { Project } from "@/api/model";
import { projects, task } from "@/api/queries";

/** The project of this address; on a task's page that of the task, elsewhere the first that goes on. */
export function useCurrentProject(): Project | undefined {
  const { projectId, taskId } = useParams({ strict: false });
  const all = useQuery(projects).data;
  const shown = useQuery({ ...task(taskId ?? ""), enabled: taskId !== undefined }).data;
  const wanted = projectId ?? shown?.project_id;
  return all?.find((each) => (wanted === undefined ? each.status !== "archived" : each.project_id === wanted));
}

/** Opens a task beside what one looks at; null closes it. */
export function useOpenTask(): (taskId: string | null, tab?: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (taskId, tab) =>
      void navigate({
        to: ".",
        search: (known) => {
          const next = { ...known };
          delete next.task;
          delete next.tab;
          return { ...next, ...(taskId === null ? {} : { task: taskId }), ...(tab === undefined ? {} : { tab }) };
        },
      }),
    [navigate],
  );
}
