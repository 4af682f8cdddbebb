// The critical path of a story: from its end backwards, what it was that everything else waited for. Shorten a row of it
// and the whole is over earlier; shorten another one and it is not. Pure.
import type { TraceTask } from "@/api/model";

import { overAt, rowsWithin, type Row } from "./rows";

export interface Step {
  /** Of the row. */
  id: string;
  taskId: string;
  from: number;
  to: number;
}

/** The steps in order. Where a task waited for others, the path goes through the one of them that ended last. */
export function criticalPath(task: TraceTask, now: number): Step[] {
  const all = new Map(flat(task).map((each) => [each.task_id, each]));
  return new Walk(all, now).steps(task, 0, overAt(task) ?? now, new Set([task.task_id]));
}

/** Rows and tasks on the path. */
export function criticalIds(steps: readonly Step[]): Set<string> {
  return new Set(steps.flatMap((each) => [each.id, each.taskId]));
}

const flat = (task: TraceTask): TraceTask[] => [task, ...task.tasks.flatMap(flat)];

class Walk {
  constructor(
    /** Every task of the story: one may wait for any of them. */
    private readonly all: ReadonlyMap<string, TraceTask>,
    private readonly now: number,
  ) {}

  steps(task: TraceTask, from: number, to: number, seen: ReadonlySet<string>): Step[] {
    const spans = rowsWithin(task, 0).filter((each) => ["wait", "launch", "attempt"].includes(each.kind));
    const path: Step[] = [];
    for (let at = to; at > from;) {
      const span = lastBefore(spans, at, this.now);
      if (span === undefined) break;
      const until = Math.min(at, span.to ?? this.now);
      const since = Math.max(from, span.from);
      if (until <= from) break;
      path.unshift(...this.through(span, since, until, seen), {
        ...{ id: span.id, taskId: task.task_id, from: since, to: until },
      });
      at = since;
    }
    // A part that was worked on within another task's launch has no spans of its own.
    return path.length > 0 || to <= from ? path : [{ id: task.task_id, taskId: task.task_id, from, to }];
  }

  /** The steps of the task that was waited for. */
  private through(span: Row, from: number, to: number, seen: ReadonlySet<string>): Step[] {
    if (span.kind !== "wait") return [];
    const below = span.wait.cause === "subtasks" ? span.task.tasks : [];
    const wanted = [...below, ...span.wait.on.flatMap((each) => this.all.get(each) ?? [])];
    const ended = (each: TraceTask) => closedAt(each) ?? this.now;
    const last = wanted
      .filter((each) => !seen.has(each.task_id) && Date.parse(each.created_at) < to && ended(each) > from)
      .toSorted((a, b) => ended(a) - ended(b))
      .at(-1);
    if (last === undefined) return [];
    return this.steps(last, from, Math.min(to, ended(last)), new Set([...seen, last.task_id]));
  }
}

/** What lasted until then, or ended last before; of several that do, work before waits, then the later one. */
function lastBefore(spans: readonly Row[], at: number, now: number): Row | undefined {
  const reach = (each: Row) => Math.min(at, each.to ?? now);
  const rank = (each: Row) => (each.kind === "wait" ? 0 : 1);
  return spans
    .filter((each) => each.from < at)
    .reduce<Row | undefined>((best, each) => {
      if (best === undefined) return each;
      const order = reach(each) - reach(best) || rank(each) - rank(best) || each.from - best.from;
      return order > 0 ? each : best;
    }, undefined);
}

/** When it was over for those who waited for it: its review is not theirs. */
function closedAt(task: TraceTask): number | null {
  return task.completed_at === null ? null : Date.parse(task.completed_at);
}
