// Where to look while the demo runs: what needs a person there, and where the team is seen at work. One hint of a kind,
// which is dismissed for this browser until the demo is removed.
import { useState } from "react";

import type { Need } from "@/api/model";

const KEPT = "toryo.demo.hints";
export type HintKind = "approval" | "message" | "review" | "watch";

export interface Hint {
  kind: HintKind;
  /** The need that it leads to; null: the team as a whole. */
  need: Need | null;
}

/** At most four. `projectIds`: those of the demo. */
export function hintsOf(needs: readonly Need[], projectIds: readonly string[]): Hint[] {
  const here = needs.filter((each) => each.project_id !== null && projectIds.includes(each.project_id));
  const first = (kind: HintKind) => here.find((each) => each.kind === kind && each.task_id !== null);
  const approval = first("approval");
  const asked = here.filter((each) => each.kind === "message" && each.task_id !== null);
  const message = asked.find((each) => each.agent_id !== approval?.agent_id); // who asks for approval says so, too
  const found = [approval, message, first("review")].filter((each) => each !== undefined);
  return [...found.map((need) => ({ kind: need.kind as HintKind, need })), { kind: "watch", need: null }];
}

export function useDismissed(): { dismissed: readonly HintKind[]; dismiss: (kind: HintKind) => void } {
  const [dismissed, set] = useState(read);
  return {
    dismissed,
    dismiss: (kind) => {
      const next = [...dismissed, kind];
      localStorage.setItem(KEPT, JSON.stringify(next));
      set(next);
    },
  };
}

/** The next demo has its hints again. */
export function forgetDismissed(): void {
  localStorage.removeItem(KEPT);
}

function read(): HintKind[] {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(said) ? (said as HintKind[]) : [];
  } catch {
    return [];
  }
}
