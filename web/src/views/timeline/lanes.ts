// What each agent's lane holds: its launches and the tasks that it has worked on, as spans of time. Pure.
import { isClosed, type Agent, type BoardTask, type Launch, type UsageRow } from "@/api/model";
import { endOf, type LaunchEnd } from "@/app/launch-end";

import { packed, type Span } from "./scale";

export interface LaunchBar extends Span {
  kind: "launch";
  id: string;
  launch: Launch;
  /** What it was for, where that is read here. */
  task: BoardTask | undefined;
  result: Result;
  tokens: number | null;
}

export interface TaskBar extends Span {
  kind: "task";
  id: string;
  task: BoardTask;
}

export type Bar = LaunchBar | TaskBar;

export interface Lane {
  agentId: string;
  name: string;
  person: boolean;
  bars: { bar: Bar; row: number }[];
  rows: number;
}

/** One lane per agent that has done anything, then the others; within it launches above, tasks below. */
export function lanesOf(
  agents: readonly Agent[],
  launches: readonly Launch[],
  tasks: readonly BoardTask[],
  usage: readonly UsageRow[],
  now: number,
): Lane[] {
  const byId = new Map(tasks.map((each) => [each.task_id, each]));
  const last = lastOf(launches);
  const tokens = new Map(usage.map((each) => [each.launch_id, each.input_tokens + each.output_tokens]));
  const lanes = agents.map(({ agent_id, name, kind }): Lane => {
    const mine = launches
      .filter((each) => each.agent_id === agent_id)
      .map((each) => {
        const task = byId.get(each.task_id ?? "");
        const result = resultOf(each, last.has(each) ? task : undefined);
        return launchBar(each, task, result, tokens.get(each.launch_id) ?? null);
      });
    const done = tasks.filter((each) => each.assignee_id === agent_id).flatMap((each) => taskBar(each));
    const above = packed(mine, now);
    const deep = rowsOf(above);
    const below = packed(done, now).map((each) => ({ ...each, row: each.row + deep }));
    const bars = [...above, ...below].map(({ item, row }) => ({ bar: item as Bar, row }));
    return { agentId: agent_id, name, person: kind === "human", bars, rows: Math.max(1, rowsOf(bars)) };
  });
  return [...lanes.filter((each) => each.bars.length > 0), ...lanes.filter((each) => each.bars.length === 0)];
}

function rowsOf(placed: readonly { row: number }[]): number {
  return placed.reduce((most, each) => Math.max(most, each.row + 1), 0);
}

function launchBar(launch: Launch, task: BoardTask | undefined, result: Result, tokens: number | null): LaunchBar {
  const to = launch.ended_at === null ? null : Date.parse(launch.ended_at);
  return {
    kind: "launch",
    id: launch.launch_id,
    launch,
    task,
    result,
    tokens,
    from: Date.parse(launch.ordered_at),
    to,
  };
}

/** Of each task the launch that was ordered last: the result of the task is its result. */
function lastOf(launches: readonly Launch[]): Set<Launch> {
  const last = new Map<string, Launch>();
  for (const each of launches) {
    const known = last.get(each.task_id ?? "");
    if (each.purpose === "task" && (known === undefined || known.ordered_at < each.ordered_at))
      last.set(each.task_id ?? "", each);
  }
  return new Set(last.values());
}

/** From when it was started until it was over; what was never started takes no time. */
function taskBar(task: BoardTask): TaskBar[] {
  if (task.started_at === null) return [];
  const closed = isClosed(task);
  const end = task.completed_at ?? (closed || task.status !== "in_progress" ? task.updated_at : null);
  return [
    {
      kind: "task",
      id: task.task_id,
      task,
      from: Date.parse(task.started_at),
      to: end === null ? null : Date.parse(end),
    },
  ];
}

/** What came of a launch: how it was ended; where it ended by itself, what became of its task. */
export type Result = LaunchEnd | "completed" | "blocked" | "cancelled";

/** `task`: its task, if no other launch has worked on it since. */
export function resultOf(launch: Launch, task: BoardTask | undefined): Result {
  const end = endOf(launch);
  if (end !== "ended" || launch.purpose === "chat" || task === undefined) return end;
  const { status } = task;
  const told = status === "completed" || status === "failed" || status === "blocked" || status === "cancelled";
  return told ? status : end;
}

/** What belongs to tasks that are shown. What belongs to none is shown where nothing is narrowed. */
export function launchesOf(launches: readonly Launch[], shown: ReadonlySet<string>): Launch[] {
  return launches.filter((each) => each.task_id !== null && shown.has(each.task_id));
}

/** What is told live, and behind it what was read of the past: each once, as it is now. */
export function allOf(now: readonly Launch[], past: readonly Launch[]): Launch[] {
  const known = new Set(now.map((each) => each.launch_id));
  return [...now, ...past.filter((each) => !known.has(each.launch_id))];
}

/** What had been ordered by then, as it was: what has ended since goes on. */
export function launchesAt(launches: readonly Launch[], at: number): Launch[] {
  const later = (moment: string | null) => moment !== null && Date.parse(moment) > at;
  return launches
    .filter((each) => !later(each.ordered_at))
    .map((each) => {
      if (!later(each.ended_at)) return each;
      const signedIn = each.signed_in_at !== null && !later(each.signed_in_at);
      const state = signedIn ? ("signed_in" as const) : ("ordered" as const);
      const lives = { ended_at: null, end_reason: null, exit_code: null, exit_signal: null, exit_error: null };
      return { ...each, ...lives, state };
    });
}

/** Where everything begins. */
export function firstOf(launches: readonly Launch[], tasks: readonly BoardTask[], now: number): number {
  return [...launches.map((each) => each.ordered_at), ...tasks.map((each) => each.created_at)].reduce(
    (first, each) => Math.min(first, Date.parse(each)),
    now,
  );
}

/** When there is something to see. What was over a moment ago is seen beside now. */
export function extentOf(lanes: readonly Lane[], now: number): { begins: number; ends: number } {
  let [begins, ends] = [now, 0];
  for (const { bar } of lanes.flatMap((each) => each.bars)) {
    begins = Math.min(begins, bar.from);
    ends = Math.max(ends, bar.to ?? now);
  }
  const lately = now - ends < (ends - begins) * LATELY;
  return { begins, ends: lately || ends === 0 ? now : ends };
}

const LATELY = 0.5;
