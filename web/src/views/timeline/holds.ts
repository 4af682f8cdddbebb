// Why an agent stood still, from the decisions about starting it. Pure.
import type { Event, Launch, Member } from "@/api/model";

import type { Span } from "./scale";

export interface Hold extends Span {
  reason: string;
  /** The words of the row that won. */
  rule: string;
}

/** Nothing to explain: it runs, or is about to. */
const RUNS = ["already_running", "start_pending"];

/** Per agent, while it did not work on tasks: since when, till when, and by which reason. */
export function holdsOf(events: readonly Event[]): Map<string, Hold[]> {
  const holds = new Map<string, Hold[]>();
  for (const event of events) {
    const { purpose, action, reason, rule } = event.data;
    if (event.agent_id === null || event.kind !== "decision.launch" || purpose !== "task") continue;
    const at = Date.parse(event.at);
    const mine = holds.get(event.agent_id) ?? [];
    const last = mine.at(-1);
    if (last?.to === null) last.to = at;
    if (action === "hold" && typeof reason === "string" && !RUNS.includes(reason))
      mine.push({ from: at, to: null, reason, rule: typeof rule === "string" ? rule : reason });
    holds.set(event.agent_id, mine);
  }
  return holds;
}

/** States in which there is nothing to explain. */
const AT_WORK: readonly Member["state"][] = ["working", "talking", "starting", "stopping"];

/** What holds an agent now: decisions are recorded only while it has work, so the last one may be over unsaid. It goes
 * on if it is still the reason; else what is said now counts, from the end of the last launch on. */
export function holdsUntilNow(
  recorded: ReadonlyMap<string, readonly Hold[]>,
  team: readonly Member[],
  launches: readonly Launch[],
): Map<string, Hold[]> {
  const all = new Map([...recorded].map(([agent, holds]) => [agent, holds.filter((each) => each.to !== null)]));
  for (const { agent_id, state, reason, explanation } of team) {
    if (AT_WORK.includes(state) || reason === null) continue;
    const known = recorded.get(agent_id)?.findLast((each) => each.to === null && each.reason === reason);
    const from = known?.from ?? lastEnd(launches.filter((each) => each.agent_id === agent_id));
    if (from === null) continue;
    all.set(agent_id, [...(all.get(agent_id) ?? []), { from, to: null, reason, rule: explanation ?? reason }]);
  }
  return all;
}

function lastEnd(launches: readonly Launch[]): number | null {
  if (launches.some((each) => each.ended_at === null)) return null;
  return launches.reduce<number | null>((last, each) => Math.max(last ?? 0, Date.parse(each.ended_at ?? "")), null);
}

/** As it was known then. */
export function holdsAt(recorded: ReadonlyMap<string, readonly Hold[]>, at: number): Map<string, Hold[]> {
  const known = (hold: Hold): Hold => ({ ...hold, to: hold.to !== null && hold.to > at ? null : hold.to });
  return new Map(
    [...recorded].map(([agent, holds]) => [agent, holds.filter((each) => each.from <= at).map(known)] as const),
  );
}
