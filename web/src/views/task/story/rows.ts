// The rows of a task's story, in order: what it waited for, who worked on it, what was decided, checked and answered; and
// below it its subtasks, where they are unfolded. Pure.
import { isClosed, type Decision, type Trace, type TraceTask } from "@/api/model";

export type Wait = TraceTask["waits"][number];
export type TracedLaunch = TraceTask["launches"][number];
export type TracedDecision = TraceTask["decisions"][number];
export type TracedCheck = TraceTask["checks"][number];
export type TracedEvent = TraceTask["events"][number];

type What =
  | { kind: "task" }
  | { kind: "wait"; wait: Wait }
  | { kind: "launch"; launch: TracedLaunch; number: number }
  | { kind: "session"; launch: TracedLaunch }
  | { kind: "calls"; launch: TracedLaunch }
  | { kind: "attempt"; attempt: TraceTask["attempts"][number] }
  | { kind: "decision"; decision: TracedDecision }
  | { kind: "check"; check: TracedCheck }
  | { kind: "delegation"; delegation: TraceTask["delegations"][number] }
  | { kind: "talk"; talk: TraceTask["conversations"][number] }
  | { kind: "event"; event: TracedEvent };

export type Row = What & {
  id: string;
  task: TraceTask;
  depth: number;
  from: number;
  /** Null: it goes on. An instant begins and ends at once. */
  to: number | null;
  /** Whether there is more below it. */
  unfolds: boolean;
};

/** Waits that are shorter, and shorter than a hundredth of the story, say nothing. */
const LEAST_WAIT_MS = 1000;

/** Of all events those that have no row of another kind: verdicts, results, reviews, merges. */
const TOLD = new Set([
  ...["task.completed", "task.failed", "task.cancelled", "task.approved", "task.rejected", "task.retried"],
  ...["task.unblocked", "task.steered", "task.assigned", "worktree.changes_requested", "worktree.merged"],
  ...[
    "worktree.discarded",
    "worktree.hindered",
    "worktree.base_moved",
    "worktree.subtasks_merged",
    "worktree.subtask_conflict",
    "worktree.pull_request_opened",
    "worktree.pull_request_closed",
    "note.saved",
  ],
]);

export const instant = (at: string): number => Date.parse(at);
export const end = (at: string | null): number | null => (at === null ? null : Date.parse(at));

/** When a task's story is over: when it was closed and its work reviewed. Null while it goes on. */
export function overAt(task: TraceTask): number | null {
  const ends = rowsWithin(task, 0)
    .filter((each) => each.kind !== "delegation" && each.kind !== "talk") // nobody waits for them any longer
    .map((each) => each.to);
  const closed = isClosed(task);
  if (!closed || ends.some((each) => each === null)) return null;
  return Math.max(instant(task.created_at), ...ends.filter((each) => each !== null));
}

/** All rows that are seen: `unfolded` has the ids of the tasks and launches whose rows are shown. */
export function rowsOf(task: TraceTask, unfolded: ReadonlySet<string>, depth = 0): Row[] {
  const open = unfolded.has(task.task_id);
  const head: Row = {
    ...{ kind: "task", id: task.task_id, task, depth, unfolds: true },
    ...{ from: instant(task.created_at), to: overAt(task) },
  };
  if (!open) return [head];
  const own = rowsWithin(task, depth + 1);
  const below = task.tasks.map((each) => rowsOf(each, unfolded, depth + 1));
  const groups = [...own.map((each) => [each, ...(unfolded.has(each.id) ? inLaunch(each) : [])]), ...below];
  const start = (group: readonly Row[]) => group[0]?.from ?? 0;
  return [head, ...groups.toSorted((a, b) => start(a) - start(b)).flat()];
}

/** The rows of a task itself, the oldest first. */
export function rowsWithin(task: TraceTask, depth: number): Row[] {
  const row = (what: What, id: string, from: number, to: number | null, unfolds = false): Row => ({
    ...what,
    ...{ id, task, depth, from, to, unfolds },
  });
  const rows = [
    // At the same instant: first what happened, then what followed from it.
    ...task.events
      .filter((each) => TOLD.has(each.kind))
      .map((event) => row({ kind: "event", event }, `event:${event.sequence}`, instant(event.at), instant(event.at))),
    ...task.decisions.map((decision) =>
      row({ kind: "decision", decision }, `event:${decision.sequence}`, instant(decision.at), instant(decision.at)),
    ),
    ...task.waits.map((wait) =>
      row({ kind: "wait", wait }, `wait:${task.task_id}:${wait.since}`, instant(wait.since), end(wait.until)),
    ),
    ...task.launches.map((launch, place) =>
      row(
        { kind: "launch", launch, number: place + 1 },
        launch.launch_id,
        instant(launch.ordered_at),
        end(launch.ended_at),
        true,
      ),
    ),
    ...(task.launches.length > 0 ? [] : task.attempts).map((attempt) =>
      row(
        { kind: "attempt", attempt },
        `attempt:${task.task_id}:${attempt.attempt}`,
        instant(attempt.claimed_at),
        end(attempt.ended_at),
      ),
    ),
    ...task.checks.map((check) =>
      row({ kind: "check", check }, check.check_id, instant(check.created_at), end(check.finished_at)),
    ),
    ...task.delegations.map((delegation) =>
      row(
        { kind: "delegation", delegation },
        delegation.delegation_id,
        instant(delegation.created_at),
        end(delegation.ended_at),
      ),
    ),
    ...task.conversations.map((talk) =>
      row({ kind: "talk", talk }, talk.conversation_id, instant(talk.created_at), end(talk.ended_at)),
    ),
  ];
  const lasted = Math.max(...rows.map((each) => each.to ?? each.from)) - instant(task.created_at);
  const least = Math.min(LEAST_WAIT_MS, lasted / 100);
  return rows
    .filter((each) => each.kind !== "wait" || each.to === null || each.to - each.from >= least)
    .toSorted((a, b) => a.from - b.from);
}

/** What a launch unfolds to: its session, and what its program called. */
function inLaunch(row: Row): Row[] {
  if (row.kind !== "launch") return [];
  const { launch } = row;
  const below = { task: row.task, depth: row.depth + 1, unfolds: false };
  const { session } = launch;
  const signedIn: Row[] =
    session === null
      ? []
      : [
          {
            ...{ ...below, kind: "session", launch, id: session.session_id },
            ...{ from: instant(session.signed_in_at), to: end(session.ended_at) },
          },
        ];
  return [...signedIn, { ...below, kind: "calls", launch, id: `calls:${row.id}`, from: row.from, to: row.to }];
}

/** The task of a trace, wherever it stands in it. */
export function taskIn(tasks: Trace["tasks"], id: string): TraceTask | undefined {
  for (const each of tasks) {
    const found = each.task_id === id ? each : taskIn(each.tasks, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The decision that explains a wait, or is a row itself. */
export function decisionOf(row: Row): TracedDecision | undefined {
  if (row.kind === "decision") return row.decision;
  return row.kind === "wait" ? row.task.decisions.find((each) => each.sequence === row.wait.event) : undefined;
}

/** As it is shown everywhere. */
export function asDecision(said: TracedDecision, task: TraceTask): Decision {
  return {
    ...{ project_id: task.project_id, purpose: "task", action: said.action, reason: said.reason, row: said.row },
    ...{ rule: said.rule, explanation: said.rule, summary: said.rule, facts: said.facts, task_id: task.task_id },
    ...{ since: said.at, until: null, seconds_left: null },
  };
}

export interface Sum {
  waited: number;
  worked: number;
}

/** How long nobody worked on it, and how long somebody did. */
export function sumOf(task: TraceTask, now: number): Sum {
  const lasted = (rows: readonly Row[]) => rows.reduce((sum, each) => sum + ((each.to ?? now) - each.from), 0);
  const rows = rowsWithin(task, 0);
  return {
    waited: lasted(rows.filter((each) => each.kind === "wait")),
    worked: lasted(rows.filter((each) => each.kind === "launch" || each.kind === "attempt")),
  };
}
