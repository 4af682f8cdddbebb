// The nouns as the server shows them. What OpenAPI says of them is taken from there (schema.ts, written by `npm run
// types` from openapi.json, which `make docs` writes from the server's declarations); the rest stands here.
import type { components, operations } from "@/api/schema";

type Schemas = components["schemas"];
/** What the server answers to an operation that succeeds. */
type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Told } } };
}
  ? Omit<Told, "success" | "next" | "notifications_pending" | "next_cursor">
  : never;

export type TaskStatus = "backlog" | "todo" | "in_progress" | "blocked" | "completed" | "failed" | "cancelled";
export type Priority = "critical" | "high" | "medium" | "low";
export const STATUSES: readonly TaskStatus[] = [
  "backlog",
  "todo",
  "in_progress",
  "blocked",
  "completed",
  "failed",
  "cancelled",
];

/** No work is left in these; what has failed can be tried again. */
export const CLOSED: readonly TaskStatus[] = ["completed", "failed", "cancelled"];
/** Nothing can follow these. */
export const FINAL: readonly TaskStatus[] = ["completed", "cancelled"];
export const isClosed = (task: { status: TaskStatus }) => CLOSED.includes(task.status);
export const isFinal = (task: { status: TaskStatus }) => FINAL.includes(task.status);

/** A card: GET /projects/{id}/board. */
export type BoardTask = Schemas["BoardTask"];

/** A column of open tasks: how many there are, and what leads to those that are not on the board yet. */
export type BoardColumn = Schemas["BoardColumn"];

/** As it is kept here (boards.ts). `last_event` is null where it has to be read whole; `older` leads to the tasks that
 *  were closed earlier and are not in it. */
export interface Board {
  tasks: BoardTask[];
  columns?: BoardColumn[] | undefined;
  older?: string | null | undefined;
  last_event: number | null;
}

/** GET /tasks/{id}. */
export type Task = Schemas["FullTask"];

/** GET /tasks/{id}/moves: what a person may do with a card now, and why not. */
export type Move = Schemas["Move"];

export type Agent = Schemas["Agent"];

export type Project = Schemas["Project"];

export type Launch = Schemas["Launch"];

export type Session = Schemas["ListedSession"];

export type Event = Schemas["Event"];

/** GET /needs-you. */
export type Need = Schemas["Need"] & {
  /** In GET /overview only: how many open tasks cannot go on before. */
  blocks?: number;
};

/** GET /agents/{id}/why. */
export type Decision = Schemas["Decision"];

/** GET /overview: the first glance, in the order in which a person decides. POST /visits dismisses `since`. */
export type Overview = Answer<"show_overview">;

/** Since the last visit (`at` null: there was none, and nothing is told). The newest 50 of each; the counts count all. */
export type Since = Schemas["Since"];

export type Member = Schemas["Member"];

/** `held` lists the most important ones; `held_in_all` counts them. `waiting`: left to those who work below or beside. */
export type QueueStatus = Schemas["QueueStatus"];

/** `reason` is a word (dependency, not_approved, blocked, cooling_down …), the rest are sentences. */
export type Held = Schemas["Held"];

export type Fuel = Schemas["Fuel"];

export type Plant = Schemas["Plant"];

/** GET /me. */
export type Me = Answer<"who_am_i">;

// --- talking (src/toryo/operations/chat/rest.py) ---

export type Message = Schemas["Message"];

export type ChatStatus = Schemas["ChatStatus"];

/** GET /projects/{id}/chats: one thread of yours, or of an agent below you. */
export type ChatThread = Schemas["Chat"];

/** GET /projects/{id}/chats/{agent}/messages. */
export type ChatPage = Answer<"read_chat">;

export type Conversation = Schemas["Conversation"];

// --- values, output, sums, keys, people, machines ---

/** GET /projects/{id}/state. */
export type SharedValue = Schemas["SharedValue"];

export type LaunchUsage = NonNullable<LogPage["launch"]["usage"]>;

/** GET /launches/{id}/log. */
export type LogPage = Answer<"read_launch_log">;

export type Sums = Schemas["Sums"];

export type UsageGroup = "day" | "agent" | "project" | "task" | "launch" | "provider" | "model" | "purpose";

export type UsageRow = UsageAnswer["rows"][number];

export type Budget = Schemas["Budget"];

/** GET /usage. */
export type UsageAnswer = Answer<"show_usage">;

/** GET /retention. */
export type Retention = Answer<"show_retention">;

export type KindStanding = Schemas["KindStanding"];

export type ApiKey = Schemas["Key"];

/** GET /sign-ins: a browser of yours. */
export type SignIn = Schemas["SignIn"];

/** GET /status. */
export type ServerStatus = Answer<"server_status">;

// --- the work that tasks leave in git worktrees (src/toryo/operations/worktrees/rest.py) ---

/** GET /tasks/{id}/worktree, /projects/{id}/worktrees. */
export type Worktree = Schemas["Worktree"];

/** GET /worktree-jobs/{id}: what a Coordinator was asked to do with files, and its answer. */
export interface WorktreeJob<Answer> {
  job_id: string;
  kind: "diff" | "merge" | "discard" | "clean";
  task_id: string;
  finished_at: string | null;
  done: boolean | null;
  answer: (Answer & { trouble: string | null; hindered_by: string | null }) | null;
}

export interface FileChange {
  path: string;
  old_path: string | null;
  status: "added" | "deleted" | "modified" | "renamed" | "copied" | "type changed";
  insertions: number;
  deletions: number;
  binary: boolean;
}

export interface Diff {
  patch: string;
  files: FileChange[];
  files_in_all: number;
  truncated: boolean;
  head: string;
  base: string;
}

/** GET /traces/{correlation id or task id}: everything that one request has caused. */
export type Trace = Answer<"show_trace">;

export type TraceTask = Schemas["TracedTask"];

/** GET /demo. `waits_for`: why nobody works on it yet, and what to type. */
export type Demo = Answer<"show_demo">;

/** GET /people. What stands after `active` is shown to owners and to the person. */
export type Person = Schemas["Person"];

/** GET /access-tokens: for programs of a person. */
export type AccessToken = Schemas["ShownToken"];
