// What tasks have changed, as their Coordinators answer it.
import { queryOptions } from "@tanstack/react-query";

import { askCombinedDiff, askDiff, type CombinedWanted } from "@/api/worktrees";

/** Unchanged lines around each change, where one has not asked for more. */
export const USUAL_CONTEXT = 3;

/** What a task has changed, as its Coordinator answers it. */
export const diff = (taskId: string, context = USUAL_CONTEXT) =>
  queryOptions({ queryKey: ["diff", taskId, context], queryFn: ({ signal }) => askDiff(taskId, context, signal) });

/** What several tasks have changed, and the order in which it is best merged. */
export const combinedDiff = (projectId: string, wanted: CombinedWanted) =>
  queryOptions({
    queryKey: ["combined-diff", projectId, wanted],
    queryFn: ({ signal }) => askCombinedDiff(projectId, wanted, signal),
  });
