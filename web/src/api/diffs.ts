// What tasks have changed, as their Coordinators answer it.
import { queryOptions } from "@tanstack/react-query";

import { askDiff } from "@/api/worktrees";

/** Unchanged lines around each change, where one has not asked for more. */
export const USUAL_CONTEXT = 3;

/** What a task has changed, as its Coordinator answers it. */
export const diff = (taskId: string, context = USUAL_CONTEXT) =>
  queryOptions({ queryKey: ["diff", taskId, context], queryFn: ({ signal }) => askDiff(taskId, context, signal) });
