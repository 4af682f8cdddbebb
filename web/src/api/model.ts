// The nouns as the server shows them. What OpenAPI says of them is taken from there (schema.ts, which `make types`
// writes from the server's declarations); the rest stands here.
import type { AnswerOf, QueryOf } from "@/api/routes";
import type { components } from "@/api/schema";

type Schemas = components["schemas"];

export type TaskStatus = BoardTask["status"];
export type Priority = BoardTask["priority"];
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
/** How far it has come, for the word of its status: `status.…`. */
export const standing = (task: { status: TaskStatus; in_review: boolean; merged: boolean }) =>
  task.in_review ? "in_review" : task.merged ? "merged" : task.status;
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
export type Task = Schemas["PersonsTask"];

/** The open task that makes the changes which were requested in a review. */
export type RequestedChanges = Schemas["RequestedChanges"];

/** GET /tasks/{id}/moves: what a person may do with a card now, and why not. */
export type Move = Schemas["Move"];

/** GET /task-search: what the server finds by the words in titles and descriptions. */
export type FoundTasks = AnswerOf<"get", "/task-search">;

/** A view of a project under a name, with how many tasks it shows. */
export type SavedView = Schemas["ShownView"];

export type Agent = Schemas["Agent"];

export type Project = Schemas["Project"];

export type Launch = Schemas["Launch"];

/** The newest sign of an agent's program: what it called, said or printed, and since when. */
export type Doing = NonNullable<Launch["doing"]>;

/** What the stream of events tells of it, besides the events. */
export type Sign = Pick<Launch, "launch_id" | "agent_id" | "project_id" | "task_id" | "purpose" | "doing">;

export type Session = Schemas["ListedSession"];

export type Event = Schemas["Event"];

/** One of GET /needs-you. */
export type Need = Schemas["Need"] & {
  /** In GET /overview only: how many open tasks cannot go on before. */
  blocks?: number;
};

/** Tasks that are created at certain times. */
export type Schedule = Schemas["ShownSchedule"];

/** What became of a time of a schedule. */
export type ScheduleRun = Schemas["ScheduleRun"];

/** Tasks that are created when another program sends a signed request. */
export type Webhook = Schemas["ShownWebhook"];

/** What became of a request that a webhook has received. */
export type WebhookDelivery = Schemas["WebhookDelivery"];

/** What an agent or a person has noted about a project. */
export type Memory = Schemas["ShownMemory"];

/** What a search of a project has found. */
export type FoundText = Schemas["FoundText"];

/** What an agent asks people. */
export type Question = Schemas["Question"];

/** GET /needs-you. */
export type NeedsYou = AnswerOf<"get", "/needs-you">;

/** One of GET /conditions. */
export type Condition = Schemas["ProjectCondition"];

/** GET /conditions: what keeps a project from going on. */
export type Conditions = AnswerOf<"get", "/conditions">;

/** GET /agents/{id}/why. */
export type Decision = Schemas["Decision"];

/** GET /overview: the first glance, in the order in which a person decides. POST /visits dismisses `since`. */
export type Overview = AnswerOf<"get", "/overview">;

/** Since the last visit (`at` null: there was none, and nothing is told). The newest 50 of each; the counts count all. */
export type Since = Schemas["Since"];

export type News = AnswerOf<"get", "/news">;

export type TaskNews = Schemas["TaskNews"];

export type Member = Schemas["Member"];

/** `held` lists the most important ones; `held_in_all` counts them. `waiting`: left to those who work below or beside. */
export type QueueStatus = Schemas["QueueStatus"];

/** `reason` is a word (dependency, not_approved, blocked, cooling_down …), the rest are sentences. */
export type Held = Schemas["Held"];

export type Fuel = Schemas["Fuel"];

export type Plant = Schemas["Plant"];

/** GET /me. */
export type Me = AnswerOf<"get", "/me">;

// --- talking (src/toryo/operations/chat/rest.py) ---

export type Message = Schemas["Message"];

export type ChatStatus = Schemas["ChatStatus"];

/** GET /projects/{id}/chats: one thread of yours, or of an agent below you. */
export type ChatThread = Schemas["Chat"];

/** GET /projects/{id}/chats/{agent}/messages. */
export type ChatPage = AnswerOf<"get", "/projects/{project_id}/chats/{agent_id}/messages">;

export type Conversation = Schemas["Conversation"];

// --- values, output, sums, keys, people, machines ---

/** GET /projects/{id}/state. */
export type SharedValue = Schemas["SharedValue"];

export type LaunchUsage = NonNullable<LogPage["launch"]["usage"]>;

/** GET /launches/{id}/log. */
export type LogPage = AnswerOf<"get", "/launches/{launch_id}/log">;

export type Sums = Schemas["Sums"];

export type UsageGroup = NonNullable<QueryOf<"get", "/usage">["by"]>[number];

export type UsageRow = UsageAnswer["rows"][number];

export type Budget = Schemas["Budget"];
export type AgentBudget = Schemas["AgentBudget"];
export type SpentOfTask = Schemas["TaskBudget"];
export type TaskTemplate = Schemas["ShownTemplate"];
export type Quota = Schemas["Quota"];
export type QuotaWindow = Schemas["QuotaWindow"];
export type Forecast = Schemas["Forecast"];
export type ForecastRange = Schemas["Range"];

/** GET /usage. */
export type UsageAnswer = AnswerOf<"get", "/usage">;

/** GET /notification-settings: the person's, and whether this browser is notified. */
export type NotificationSettings = AnswerOf<"get", "/notification-settings">;

/** GET /retention. */
export type Retention = AnswerOf<"get", "/retention">;

export type KindStanding = Schemas["KindStanding"];

export type ApiKey = Schemas["Key"];

/** GET /sign-ins: a browser of yours. */
export type SignIn = Schemas["SignIn"];

/** GET /status. */
export type ServerStatus = AnswerOf<"get", "/status">;

// --- the work that tasks leave in git worktrees (src/toryo/operations/worktrees/rest.py) ---

/** GET /tasks/{id}/worktree, /projects/{id}/worktrees. */
export type Worktree = Schemas["Worktree"];

/** GET /worktree-jobs/{id}: what a Coordinator was asked to do with files, and its answer. */
export type WorktreeJob = Schemas["WorktreeJob"];

/** GET /projects/{id}/merge-queue. */
export type MergeQueue = Schemas["MergeQueue"];
export type MergeQueueEntry = Schemas["MergeQueueEntry"];

export type FileChange = Schemas["FileChange"];

export type Diff = Schemas["DiffAnswer"];

export type MergedWork = Schemas["MergedWork"];
export type PullRequest = Schemas["PullRequest"];

/** GET /traces/{correlation id or task id}: everything that one request has caused. */
export type Trace = AnswerOf<"get", "/traces/{correlation_id}">;

export type TraceTask = Schemas["TracedTask"];

/** GET /demo. `waits_for`: why nobody works on it yet, and what to type. */
export type Demo = AnswerOf<"get", "/demo">;

/** GET /people. What stands after `active` is shown to owners and to the person. */
export type Person = Schemas["Person"];

/** GET /access-tokens: for programs of a person. */
export type AccessToken = Schemas["ShownToken"];
