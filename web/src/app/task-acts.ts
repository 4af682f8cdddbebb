// What a person can do with a task, declared once: the menu of a task, its keys and the palette offer these. Which moves
// are allowed now, the server says; before it was asked, an act is offered where it could be.
import {
  ArrowUpRight,
  Ban,
  Check,
  CircleCheck,
  CircleX,
  ClipboardCheck,
  Copy,
  Flag,
  GitMerge,
  GitPullRequestArrow,
  Inbox,
  ListRestart,
  ListTodo,
  MessageSquareText,
  OctagonPause,
  Play,
  Plus,
  RotateCcw,
  ShieldX,
  UserRound,
  type LucideIcon,
} from "lucide-react";

import { WANTS_REASON } from "@/api/actions";
import { isFinal, type Move, type Priority, type Task, type TaskStatus } from "@/api/model";

/** What an act has to know of a task: a card of the board knows it, too. */
export type Subject = Pick<
  Task,
  "task_id" | "title" | "status" | "priority" | "assignee_id" | "blocked_reason" | "version"
> & {
  project_id: string;
  approval: string;
  checks?: Task["checks"];
};

/** What the server says of it; null: it was not asked. */
export interface Verdict {
  moves: readonly Move[] | null;
  judges: boolean | null;
  /** It has work that waits for a review; null: nobody knows. */
  work: boolean | null;
}

export const NOT_ASKED: Verdict = { moves: null, judges: null, work: null };

/** `do`: at once; `words`: asks for words first; `pick`: for a value; `go`: leads to a place. */
type How = "do" | "words" | "pick" | "go";

interface Declared {
  icon: LucideIcon;
  how: How;
  /** The key where the task is open, or chosen on the board. */
  key?: string;
  danger?: boolean;
  /** Viewers may do it, too. */
  reads?: boolean;
  /** The status that it moves a task to; `from`: only from this one. */
  move?: { to: TaskStatus; from?: TaskStatus };
  fits?: (task: Subject, verdict: Verdict) => boolean;
}

const pending = (task: Subject) => task.approval === "pending_approval";

/** In the order in which they are offered; of moves to the same status the first that fits is the one. */
const DECLARED = {
  approve: { icon: Check, how: "do", key: "a", fits: (task, { judges }) => pending(task) && judges !== false },
  reject: {
    icon: ShieldX,
    how: "words",
    key: "r",
    danger: true,
    fits: (task, { judges }) => pending(task) && judges !== false,
  },
  unblock: { icon: Play, how: "do", key: "r", move: { to: "in_progress", from: "blocked" } },
  start: { icon: Play, how: "do", move: { to: "in_progress" } },
  retry: { icon: RotateCcw, how: "do", key: "r", move: { to: "todo", from: "failed" } },
  reopen: { icon: ListRestart, how: "do", move: { to: "todo", from: "in_progress" } },
  todo: { icon: ListTodo, how: "do", move: { to: "todo" } },
  assign: { icon: UserRound, how: "pick", key: "a", fits: (task) => !isFinal(task) && !pending(task) },
  priority: { icon: Flag, how: "pick", key: "p", fits: (task) => !isFinal(task) },
  steer: { icon: MessageSquareText, how: "words", fits: (task) => !isFinal(task) },
  review: {
    icon: GitPullRequestArrow,
    how: "go",
    reads: true,
    fits: (_, { work }) => work === true,
  },
  merge: { icon: GitMerge, how: "go", fits: (_, { work }) => work === true },
  diff: { icon: ArrowUpRight, how: "go", reads: true },
  accept: { icon: ClipboardCheck, how: "do", fits: (task) => task.checks === "failed" },
  complete: { icon: CircleCheck, how: "do", move: { to: "completed" } },
  block: { icon: OctagonPause, how: "words", move: { to: "blocked" } },
  fail: { icon: CircleX, how: "words", danger: true, move: { to: "failed" } },
  backlog: { icon: Inbox, how: "do", move: { to: "backlog" } },
  cancel: { icon: Ban, how: "words", key: "Backspace", danger: true, move: { to: "cancelled" } },
  subtask: { icon: Plus, how: "go" },
  copyId: { icon: Copy, how: "do", reads: true },
} satisfies Record<string, Declared>;

export type ActName = keyof typeof DECLARED;

export interface TaskAct extends Declared {
  name: ActName;
}

export const TASK_ACTS: readonly TaskAct[] = Object.entries(DECLARED).map(([name, each]) => ({
  name: name as ActName,
  ...(each as Declared),
}));

/** The acts of each key, in their order: the first one that is offered is meant. */
export const BY_KEY: ReadonlyMap<string, readonly TaskAct[]> = new Map(
  TASK_ACTS.filter((each) => each.key !== undefined).map(({ key = "" }) => [
    key,
    TASK_ACTS.filter((each) => each.key === key),
  ]),
);

export const actNamed = (name: ActName): TaskAct => TASK_ACTS.find((each) => each.name === name) as TaskAct;

/** What a move is called, from where it begins. */
export function verb(from: TaskStatus, to: TaskStatus): ActName {
  const found = TASK_ACTS.find(({ move }) => move?.to === to && (move.from === undefined || move.from === from));
  if (found === undefined) throw new Error(`no act moves a task to ${to}`);
  return found.name;
}

/** Whether it is offered: to who may do it, where it can be done. */
export function offers(act: TaskAct, task: Subject, verdict: Verdict, writes: boolean): boolean {
  if (!writes && act.reads !== true) return false;
  if (act.move === undefined) return act.fits === undefined || act.fits(task, verdict);
  if (task.status === act.move.to || verb(task.status, act.move.to) !== act.name) return false;
  const said = verdict.moves?.find((each) => each.status === act.move?.to);
  return verdict.moves === null ? !isFinal(task) : (said?.allowed ?? false);
}

/** The words that it cannot be done without: owners may leave some reasons out. */
export function needsWords(act: TaskAct, verdict: Verdict): boolean {
  if (act.move === undefined) return act.how === "words";
  const { to } = act.move;
  return WANTS_REASON.includes(to) && (verdict.moves?.find((each) => each.status === to)?.needs_reason ?? true);
}

/** The move that is offered first, if there is one. */
export function mainMove(task: Pick<Task, "status">, all: readonly Move[]): Move | undefined {
  const WANTED: Partial<Record<TaskStatus, TaskStatus>> = {
    backlog: "todo",
    todo: "in_progress",
    blocked: "in_progress",
    failed: "todo",
  };
  return all.find((each) => each.allowed && each.status === WANTED[task.status]);
}

/** What is given with an act: words, an agent (null: nobody), a priority. */
export type Given = { words?: string; assignee?: string | null; priority?: Priority };
