// Merging several tasks, one after the other: the first one that is refused ends it, with its reason.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { PullRequest } from "@/api/model";
import { mergeTask } from "@/api/worktrees";

export type Step =
  | { is: "merging" }
  | { is: "opened"; pullRequest: PullRequest }
  | { is: "merged"; into: string; commit: string }
  | { is: "refused"; why: unknown };

export interface InOrder {
  steps: ReadonlyMap<string, Step>;
  busy: boolean;
  merge: (taskIds: readonly string[]) => Promise<number>;
  forget: () => void;
}

export function useMergingInOrder(): InOrder {
  const client = useQueryClient();
  const [steps, setSteps] = useState<ReadonlyMap<string, Step>>(new Map());
  const [busy, setBusy] = useState(false);
  const put = (taskId: string, step: Step) => setSteps((known) => new Map(known).set(taskId, step));

  /** How many are merged. */
  async function merge(taskIds: readonly string[]): Promise<number> {
    let merged = 0;
    setBusy(true);
    for (const taskId of taskIds) {
      put(taskId, { is: "merging" });
      try {
        const { merged: done, pullRequest } = await mergeTask(taskId, { below: false, anyway: false });
        const one = done.at(-1);
        if (pullRequest !== null && one === undefined) put(taskId, { is: "opened", pullRequest });
        else put(taskId, { is: "merged", into: one?.into ?? "", commit: one?.commit ?? "" });
        merged++;
      } catch (why) {
        put(taskId, { is: "refused", why });
        break;
      }
    }
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["worktree"] });
    void client.invalidateQueries({ queryKey: ["worktrees"] });
    return merged;
  }

  return { steps, busy, merge, forget: () => setSteps(new Map()) };
}
