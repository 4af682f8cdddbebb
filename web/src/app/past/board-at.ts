// The board as it was at an instant: the cards of now, and the event log that says what has changed since. Pure.
import { STATUSES, isClosed, type BoardTask, type Event, type TaskStatus } from "@/api/model";

/** Something that changed what the board looks like. */
export interface Change {
  at: number;
  event: Event;
}

/** The changes in a log, in order. */
export function changesOf(events: readonly Event[]): Change[] {
  return events.filter(changes).map((event) => ({ at: Date.parse(event.at), event }));
}

function changes(event: Event): boolean {
  if (event.task_id === null) return false;
  return ["task.created", "task.assigned", "task.dependencies_changed"].includes(event.kind) || after(event) !== null;
}

/** The instants at which one can stop, each once. */
export function stopsOf(all: readonly Change[]): number[] {
  return [...new Set(all.map((each) => each.at))];
}

/** The tasks that existed then, as they were. A task that is not among the cards is known by its events alone. */
export function boardAt(cards: readonly BoardTask[], all: readonly Change[], at: number): BoardTask[] {
  const byTask = grouped(all, (each) => each.event.task_id ?? "");
  const here = new Set(cards.map((each) => each.task_id));
  const gone = [...byTask].filter(([id]) => !here.has(id)).flatMap(([id, told]) => unknownCard(id, told));
  const then = [...cards, ...gone]
    .filter((each) => Date.parse(each.created_at) <= at)
    .map((each) => cardAt(each, byTask.get(each.task_id) ?? [], at));
  const below = grouped(then, (each) => each.parent_task_id ?? "");
  const open = new Set(then.filter((each) => each.status !== "completed").map((each) => each.task_id));
  return then.map((each) => {
    const children = below.get(each.task_id) ?? [];
    const done = children.filter((child) => child.status === "completed").length;
    const waitsFor = each.dependencies.filter((id) => open.has(id)).length;
    return { ...each, children: children.length, children_done: done, waits_for: waitsFor };
  });
}

function cardAt(card: BoardTask, told: readonly Change[], at: number): BoardTask {
  const before = told.filter((each) => each.at <= at);
  const since = told.filter((each) => each.at > at);
  const last = before.findLast((each) => after(each.event) !== null)?.event;
  const next = since.find((each) => after(each.event) !== null)?.event;
  const status = (last && after(last)) ?? (next && statusIn(next, "from")) ?? (next ? "todo" : card.status);
  const assigned = since.find((each) => each.event.kind === "task.assigned");
  const reason = last?.data["reason"];
  const until = (moment: string | null) => (moment !== null && Date.parse(moment) <= at ? moment : null);
  const over = isClosed({ status });
  return {
    ...card,
    status,
    assignee_id: assigned === undefined ? card.assignee_id : textIn(assigned.event, "from"),
    dependencies: dependenciesAt(card, since),
    blocked_reason: status === "blocked" && typeof reason === "string" ? reason : null,
    updated_at: before.at(-1)?.event.at ?? card.created_at,
    started_at: until(card.started_at),
    completed_at: over ? (until(card.completed_at) ?? last?.at ?? null) : null,
    running: false, // who was at work then, the timeline says
    checks: "none",
    changes_requested: null,
    in_review: false,
    merged: false,
    cost_usd: null, // what it had cost by then, nobody recorded
    insertions: null,
    deletions: null,
  };
}

/** What was added since is taken away, and what was removed since put back, the newest first. */
function dependenciesAt(card: BoardTask, since: readonly Change[]): string[] {
  return since
    .filter((each) => each.event.kind === "task.dependencies_changed")
    .reduceRight<string[]>((known, { event }) => {
      const added = listIn(event, "added");
      return [...known.filter((each) => !added.includes(each)), ...listIn(event, "removed")];
    }, card.dependencies);
}

/** A task of which only events are here; what they do not say is left open. */
function unknownCard(id: string, told: readonly Change[]): BoardTask[] {
  const made = told.find((each) => each.event.kind === "task.created")?.event;
  if (made === undefined) return [];
  const last = told.findLast((each) => after(each.event) !== null)?.event ?? made;
  const assignee = told.findLast((each) => each.event.kind === "task.assigned")?.event;
  return [
    {
      task_id: id,
      title: textIn(made, "title") ?? id,
      status: after(last) ?? "todo",
      priority: "medium",
      assignee_id: assignee === undefined ? made.agent_id : textIn(assignee, "to"),
      agent_type: null,
      parent_task_id: null,
      root_task_id: id,
      dependencies: [],
      approval: "approved",
      blocked_reason: null,
      attempt: 1,
      children: 0,
      children_done: 0,
      running: false,
      created_at: made.at,
      line_at: made.at,
      line_rank: 0,
      updated_at: last.at,
      started_at: null,
      completed_at: null,
      version: 0,
      checks: "none",
      changes_requested: null,
      in_review: false,
      merged: false,
      waits_for: 0,
      cost_usd: null,
      insertions: null,
      deletions: null,
    },
  ];
}

/** The status after an event; null if it changes none. */
function after(event: Event): TaskStatus | null {
  return event.kind === "task.created" ? (statusIn(event, "status") ?? "todo") : statusIn(event, "to");
}

function statusIn(event: Event, name: "from" | "to" | "status"): TaskStatus | null {
  if (event.kind === "task.assigned") return null; // its `from` and `to` are agents, whatever they are called
  const said = event.data[name];
  return STATUSES.find((each) => each === said) ?? null;
}

function textIn(event: Event, name: string): string | null {
  const said = event.data[name];
  return typeof said === "string" ? said : null;
}

function listIn(event: Event, name: string): string[] {
  const said = event.data[name];
  return Array.isArray(said) ? said.filter((each) => typeof each === "string") : [];
}

function grouped<Value>(values: readonly Value[], key: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const each of values) {
    const group = groups.get(key(each));
    if (group === undefined) groups.set(key(each), [each]);
    else group.push(each);
  }
  return groups;
}
