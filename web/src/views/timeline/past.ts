// The past, rebuilt from the event log: what the board looked like after an event, and why an agent stood still. Pure.
import { STATUSES, type Event, type Launch, type Member, type TaskStatus } from "@/api/model";

import type { Span } from "./scale";

export interface Then {
  task_id: string;
  title: string;
  status: TaskStatus;
}

/** The tasks as they stood after the first `many` of these events, in the order in which they appeared. */
export function boardAfter(events: readonly Event[], many: number, titles: ReadonlyMap<string, string>): Then[] {
  const tasks = new Map(older(events).map((each) => [each.task_id, each]));
  for (const event of events.slice(0, many)) {
    if (event.task_id === null) continue;
    const before = tasks.get(event.task_id);
    const after = changed(before, event);
    if (after !== null) tasks.set(event.task_id, after);
  }
  return [...tasks.values()].map((each) => ({ ...each, title: titles.get(each.task_id) ?? each.title }));
}

/** Tasks whose first events are no longer in the log: they existed before its first event, in their current state. */
function older(events: readonly Event[]): Then[] {
  const first = new Map<string, Then>();
  const born = new Set<string>();
  for (const event of events) {
    const id = event.task_id;
    if (id === null || born.has(id) || first.has(id)) continue;
    const from = statusIn(event, "from");
    if (event.kind === "task.created") born.add(id);
    else if (from !== null) first.set(id, { task_id: id, title: id, status: from });
  }
  return [...first.values()];
}

function changed(before: Then | undefined, event: Event): Then | null {
  const id = event.task_id ?? "";
  if (event.kind === "task.created") {
    const { title } = event.data;
    return {
      task_id: id,
      title: typeof title === "string" ? title : id,
      status: statusIn(event, "status") ?? "todo",
    };
  }
  if (before === undefined) return null;
  const status = statusIn(event, "to");
  return status === null ? null : { ...before, status };
}

function statusIn(event: Event, name: "from" | "to" | "status"): TaskStatus | null {
  if (event.kind === "task.assigned") return null; // its `from` and `to` are agents, whatever they are called
  const said = event.data[name];
  return STATUSES.find((each) => each === said) ?? null;
}

/** Those that change what the board looks like: the slider stops at them. */
export function turningPoints(events: readonly Event[]): Event[] {
  return events.filter((each) => each.kind === "task.created" || statusIn(each, "to") !== null);
}

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
