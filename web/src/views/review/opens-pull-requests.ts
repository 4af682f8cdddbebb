// Whether approved work of a project goes into a pull request instead of a merge.
import { useQuery } from "@tanstack/react-query";

import { projects } from "@/api/queries";

export function useOpensPullRequests(projectId: string): boolean {
  const project = useQuery(projects).data?.find((each) => each.project_id === projectId);
  return project?.settings.pull_requests === "open";
}
