// What waits for a review in a project, in the order in which one goes through it: what waits longest first.
import { useQuery } from "@tanstack/react-query";

import type { Worktree } from "@/api/model";
import { worktrees } from "@/api/queries";

type Standing = NonNullable<Worktree["review"]>;

/** Groups of the list: what waits for a person, what waits for its changes, and what comes later. */
export const GROUPS: Record<"waits" | "back" | "later", readonly Standing[]> = {
  waits: ["to_review"],
  back: ["changes_requested"],
  later: ["in_merge_queue", "in_pull_request", "with_parent", "left_to_agent", "at_work"],
};

export function inGroup(all: readonly Worktree[], group: keyof typeof GROUPS): Worktree[] {
  return all
    .filter((each) => each.review !== null && GROUPS[group].includes(each.review))
    .toSorted((one, other) => one.updated_at.localeCompare(other.updated_at));
}

/** The one after this in what waits: the first one where this is the last, or waits no more. */
export function nextAfter(all: readonly Worktree[], taskId: string): Worktree | undefined {
  const waits = inGroup(all, "waits");
  const rest = waits.filter((each) => each.task_id !== taskId);
  const at = waits.findIndex((each) => each.task_id === taskId);
  return rest[at] ?? rest[0];
}

export function useNextReview(projectId: string, taskId: string): Worktree | undefined {
  return nextAfter(useQuery(worktrees(projectId)).data ?? [], taskId);
}
