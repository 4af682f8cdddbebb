// The nouns as the server shows them. What OpenAPI says of them is taken from there (schema.ts, written by `npm run
// types` from openapi.json, which `make docs` writes from the server's declarations); the rest stands here.
import type { components } from "@/api/schema";

type Schemas = components["schemas"];

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

/** As it is kept here (boards.ts). `last_event` is null where it has to be read whole. */
export interface Board {
  tasks: BoardTask[];
  last_event: number | null;
}

/** GET /tasks/{id}. */
export type Task = Schemas["FullTask"];

/** GET /tasks/{id}/moves: what a person may do with a card now, and why not. */
export type Move = Schemas["Move"];

export type Agent = Schemas["Agent"];

export type Project = Schemas["Project"];

export type Launch = Schemas["Launch"];

export type Session = Schemas["Session"];

export type Event = Schemas["Event"];

/** GET /needs-you. */
export interface Need {
  kind: string;
  key: string;
  project_id: string | null;
  task_id: string | null;
  agent_id: string | null;
  title: string;
  text: string;
  since: string;
  actions: { name: string; command: string }[];
  /** What is to be approved, where something is. */
  request?: Schemas["NeedRequest"] | null;
  /** In GET /overview only: how many open tasks cannot go on before. */
  blocks?: number;
}

/** GET /agents/{id}/why. */
export type Decision = Schemas["Decision"];

/** GET /overview: the first glance, in the order in which a person decides. POST /visits dismisses `since`. */
export interface Overview {
  needs: Need[];
  since: Since;
  team: Member[];
  queue: QueueStatus;
  fuel: Fuel;
  plant: Plant;
  last_event: number;
}

/** Since the last visit (`at` null: there was none, and nothing is told). The newest 50 of each; the counts count all. */
export type Since = Schemas["Since"];

export type Member = Schemas["Member"];

/** `held` lists the most important ones; `held_in_all` counts them. `waiting`: left to those who work below or beside. */
export type QueueStatus = Schemas["QueueStatus"];

/** `reason` is a word (dependency, not_approved, blocked, cooling_down …), the rest are sentences. */
export type Held = Schemas["Held"];

export type Fuel = Schemas["Fuel"];

export type Plant = Schemas["Plant"];

export interface Me {
  person_id: string;
  name: string;
  login: "owner" | "member" | "viewer";
  version: string;
}

// --- talking (src/toryo/operations/chat/rest.py) ---

export type Message = Schemas["Message"];

export type ChatStatus = Schemas["ChatStatus"];

/** GET /projects/{id}/chats: one thread of yours, or of an agent below you. */
export type ChatThread = Schemas["Chat"];

/** GET /projects/{id}/chats/{agent}/messages. */
export interface ChatPage {
  messages: Message[];
  last: number;
  unread: number;
  observing: boolean;
  status: ChatStatus;
  conversation: Conversation | null;
}

export type Conversation = Schemas["Conversation"];

// --- values, output, sums, keys, people, machines ---

/** GET /projects/{id}/state. */
export interface SharedValue {
  key: string;
  value: unknown;
  version: number;
  expires_at: string;
  updated_by: string;
  updated_at: string;
}

/** What the program of a launch said it used. */
export interface LaunchUsage {
  input_tokens?: number;
  cached_tokens?: number;
  output_tokens?: number;
  cost_usd?: number | null;
  turns?: number;
  tool_calls?: number;
  model?: string | null;
  lower_bound?: boolean;
}

/** GET /launches/{id}/log. */
export interface LogPage {
  launch_id: string;
  text: string;
  next_offset: number;
  ended: boolean;
  removed?: string;
  launch: Launch & { usage: LaunchUsage | null };
}

export type Sums = Schemas["Sums"];

export type UsageGroup = "day" | "agent" | "project" | "task" | "launch" | "provider" | "model" | "purpose";

export interface UsageRow extends Sums {
  day?: string;
  agent_id?: string;
  project_id?: string;
  task_id?: string | null;
  launch_id?: string;
  provider?: string | null;
  model?: string | null;
}

export type Budget = Schemas["Budget"];

/** GET /usage. */
export interface UsageAnswer {
  since: string | null;
  until: string | null;
  by: UsageGroup[];
  totals: Sums;
  rows: UsageRow[];
  budgets: Budget[];
}

export type ApiKey = Schemas["Key"];

/** GET /sign-ins: a browser of yours. */
export type SignIn = Schemas["SignIn"];

/** GET /status. */
export interface ServerStatus {
  version: string;
  database: string;
  coordinators: {
    coordinator_id: string;
    providers: string[];
    labels: string[];
    capabilities: string[] | null;
    agents: string[] | null;
    running: number;
    seen_at: string;
    seconds_ago: number;
  }[];
  projects: number;
  agents: number;
  running: number;
  last_event: number;
}

// --- the work that tasks leave in git worktrees (src/toryo/operations/worktrees/rest.py) ---

/** GET /tasks/{id}/worktree, /projects/{id}/worktrees. */
export type Worktree = Schemas["Worktree"];

/** GET /errands/{id}: what a Coordinator was asked to do with files, and its answer. */
export interface Errand<Answer> {
  errand_id: string;
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
export interface Trace {
  correlation_id: string;
  trace_id: string;
  started_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  tasks: TraceTask[];
}

export interface TraceTask {
  task_id: string;
  title: string;
  status: TaskStatus;
  project_id: string;
  assignee_id: string | null;
  agent_type: string | null;
  attempt: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number | null;
  attempts: {
    attempt: number;
    agent_id: string;
    claimed_at: string;
    ended_at: string | null;
    end_reason: string | null;
  }[];
  conversations: { conversation_id: string; with: string; turns: number; state: string }[];
  events: { sequence: number; at: string; kind: string; actor_id: string; launch_id: string | null }[];
  tasks: TraceTask[];
}

/** GET /demo. `waits_for`: why nobody works on it yet, and what to type. */
export interface Demo {
  here: boolean;
  directory: string;
  projects: string[];
  waits_for: string | null;
}

/** GET /people. What stands after `active` is shown to owners and to the person. */
export interface Person {
  person_id: string;
  name: string;
  login: Me["login"];
  active: boolean;
  version: number;
  projects?: string[];
  password?: boolean;
  provider?: boolean;
  email?: string | null;
  browsers?: number;
  tokens?: number;
}

/** GET /access-tokens: for programs of a person. */
export interface AccessToken {
  token_id: string;
  person_id: string;
  name: string;
  login: Me["login"];
  created_at: string;
  expires_at: string | null;
  last_used_on: string | null;
  this_one: boolean;
}
