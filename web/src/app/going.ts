// Where one is, and how one gets to a task: the same from every view.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import type { Project } from "@/api/model";
import { projects, task } from "@/api/queries";
import { say, useParams, usePath } from "@/app/routing";

const LAST = "toryo.project";

/** The project of this address; on a task's page that of the task, elsewhere the last one that was looked at, or the
 * first that goes on. */
export function useCurrentProject(): Project | undefined {
  const { projectId, taskId } = useParams();
  const all = useQuery(projects).data;
  const shown = useQuery({ ...task(taskId ?? ""), enabled: taskId !== undefined }).data;
  const wanted = projectId ?? shown?.project_id;
  useEffect(() => {
    if (projectId !== undefined) localStorage.setItem(LAST, projectId);
  }, [projectId]);
  if (wanted !== undefined) return all?.find((each) => each.project_id === wanted);
  const goesOn = all?.filter((each) => each.status !== "archived");
  return goesOn?.find((each) => each.project_id === localStorage.getItem(LAST)) ?? goesOn?.[0];
}

/** The project that the frame names. The overview of all of several projects belongs to none. */
export function useShownProject(): Project | undefined {
  const current = useCurrentProject();
  const path = usePath();
  const several = (useQuery(projects).data?.filter((each) => each.status !== "archived").length ?? 0) > 1;
  return path === "/" && several ? undefined : current;
}

// Back leads to where one was before, not to what was closed
const openTask = (taskId: string | null, tab?: string): void =>
  say({ task: taskId ?? undefined, tab }, { replace: taskId === null });

/** Opens a task beside what one looks at; null closes it. */
export const useOpenTask = () => openTask;
