// What each agent's lane holds: its launches and the tasks that it has worked on, as spans of time. Pure.
import { isClosed, type Agent, type BoardTask, type Launch, type UsageRow } from "@/api/model";

import { packed, type Span } from "./scale";

export interface LaunchBar extends Span {
  kind: "launch";
  id: string;
  launch: Launch;
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
  const tokens = new Map(usage.map((each) => [each.launch_id, each.input_tokens + each.output_tokens]));
  const lanes = agents.map(({ agent_id, name, kind }): Lane => {
    const mine = launches
      .filter((each) => each.agent_id === agent_id)
      .map((each) => launchBar(each, tokens.get(each.launch_id) ?? null));
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

function launchBar(launch: Launch, tokens: number | null): LaunchBar {
  const to = launch.ended_at === null ? null : Date.parse(launch.ended_at);
  return { kind: "launch", id: launch.launch_id, launch, tokens, from: Date.parse(launch.ordered_at), to };
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

export type Outcome = "running" | "ended" | "failed";

/** How a launch went: its process ended well, badly, or not yet. */
export function outcomeOf(launch: Launch): Outcome {
  if (launch.ended_at === null) return "running";
  const bad = launch.state === "lost" || launch.state === "expired" || launch.exit_error !== null;
  return bad || (launch.exit_code ?? 0) !== 0 || launch.exit_signal !== null ? "failed" : "ended";
}

/** What is told live, and behind it what was read of the past: each once, as it is now. */
export function allOf(now: readonly Launch[], past: readonly Launch[]): Launch[] {
  const known = new Set(now.map((each) => each.launch_id));
  return [...now, ...past.filter((each) => !known.has(each.launch_id))];
}

/** Where everything begins. */
export function firstOf(launches: readonly Launch[], tasks: readonly BoardTask[], now: number): number {
  return [...launches.map((each) => each.ordered_at), ...tasks.map((each) => each.created_at)].reduce(
    (first, each) => Math.min(first, Date.parse(each)),
    now,
  );
}
