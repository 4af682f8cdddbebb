// Who a new task is for, where nobody says it: the only agent that stands at the top of the project's team.
import type { Agent } from "@/api/model";

/** Null: there is none, or more than one. */
export function fitting(team: readonly Agent[]): Agent | null {
  const able = team.filter((each) => each.status === "active" && each.kind === "ai");
  const top = able.filter((each) => !able.some((other) => other.agent_id === each.reports_to));
  return top.length === 1 ? (top[0] ?? null) : null;
}
