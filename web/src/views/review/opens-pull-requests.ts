// Whether approved work of a project goes into a pull request instead of a merge.
import { useQuery } from "@tanstack/react-query";

import type { Worktree } from "@/api/model";
import { projects } from "@/api/queries";

export function useOpensPullRequests(projectId: string): boolean {
  const project = useQuery(projects).data?.find((each) => each.project_id === projectId);
  return project?.settings.pull_requests === "open";
}

/** Whether one is open already: the same request pushes what was added since then. */
export const isInPullRequest = (work: Worktree) => work.pull_request?.state === "open";
