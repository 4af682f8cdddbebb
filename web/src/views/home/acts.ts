// What can be done about a need, by the name of its action: do it at once, ask for words first, or go where it is
// done; and what one must be allowed to for it. An action that no page knows is shown as its command.
import type { Need } from "@/api/model";
import {
  activateAgent,
  addToMergeQueue,
  approveTask,
  confirmChecks,
  moveTask,
  rejectTask,
  removeFromMergeQueue,
  requeueTask,
  resumeAgent,
  resumeMergeQueue,
  resumeSchedule,
  resumeWebhook,
  steerTask,
} from "@/api/actions";
import { EVERYTHING, written } from "@/api/filter";
import type { Deed } from "@/app/may";

export type Act =
  | { how: "do"; run: (words: string) => Promise<unknown>; asks: null | "reason" | "tell"; danger: boolean }
  | { how: "go"; to: string; search: Record<string, string> }
  | { how: "command" };

type Made = (need: Need) => Act | null;

/** Whether who looks may do what an action asks for (web/src/app/may.ts). */
export type May = (deed: Deed) => boolean;

const onTask =
  (run: (taskId: string, words: string) => Promise<unknown>, asks: null | "reason" | "tell" = null): Made =>
  ({ task_id }) =>
    task_id === null ? null : { how: "do", run: (words) => run(task_id, words), asks, danger: asks === "reason" };

const onAgent =
  (run: (agentId: string) => Promise<unknown>): Made =>
  ({ agent_id }) =>
    agent_id === null ? null : { how: "do", run: () => run(agent_id), asks: null, danger: false };

const inProject =
  (view: string, about: "agent" | "nothing" = "nothing"): Made =>
  ({ project_id, agent_id }) =>
    project_id === null
      ? null
      : {
          how: "go",
          to: `/p/${project_id}/${view}`,
          search: about === "agent" && agent_id !== null ? { agent: agent_id } : {},
        };

const settings =
  (tab: string): Made =>
  ({ agent_id }) => ({
    how: "go",
    to: "/settings",
    search: { tab, ...(agent_id === null ? {} : { agent: agent_id }) },
  });

const taskPage: Made = ({ task_id }) => (task_id === null ? null : { how: "go", to: `/t/${task_id}`, search: {} });

/** Starts the task that the command names: what the need is about is a part of it. */
const start: Made = ({ actions }) => {
  const whole = /^toryo task move (\S+) in_progress$/.exec(actions.find(({ name }) => name === "start")?.command ?? "");
  const id = whole?.[1];
  return id === undefined ? null : { how: "do", run: () => moveTask(id, "in_progress"), asks: null, danger: false };
};

/** Of dead letters: those of the queue that its key names. */
const list: Made = ({ kind, key, project_id }) => {
  if (project_id === null) return null;
  const queue = kind === "dead_letter" ? key.slice(`${kind} ${project_id} `.length) : "";
  const q = queue === "" ? undefined : written({ ...EVERYTHING, status: ["failed"], queue: [queue] });
  return { how: "go", to: `/p/${project_id}/list`, search: q === undefined ? {} : { q } };
};

const review: Made = ({ project_id, task_id }) =>
  project_id === null || task_id === null ? null : { how: "go", to: `/p/${project_id}/review/${task_id}`, search: {} };

const resumeQueue: Made = ({ project_id }) =>
  project_id === null ? null : { how: "do", run: () => resumeMergeQueue(project_id), asks: null, danger: false };

/** What is shown whole in the row is approved there; a longer text is read first, where all of it is. */
const approve: Made = ({ task_id, request }) => {
  if (task_id === null) return null;
  if (!request?.complete) return { how: "go", to: `/t/${task_id}`, search: {} };
  return { how: "do", run: () => approveTask(task_id, request.version), asks: null, danger: false };
};

/** Of the schedule or the webhook that its key names. */
const resume =
  (of: (id: string) => Promise<unknown>): Made =>
  ({ kind, key }) => ({
    how: "do",
    run: () => of(key.slice(`${kind} `.length)),
    asks: null,
    danger: false,
  });

const inSettings =
  (tab: string): Made =>
  ({ project_id }) => ({
    how: "go",
    to: "/settings",
    search: { tab, ...(project_id === null ? {} : { q: project_id }) },
  });

/** `null`: everyone who sees the need may go there. */
const ACTS: Record<string, [needs: Deed | null, Made]> = {
  approve: ["write", approve],
  reject: ["write", onTask(rejectTask, "reason")],
  answer_question: ["write", taskPage],
  unblock: ["write", onTask((id) => moveTask(id, "in_progress"))],
  cancel: ["write", onTask((id, words) => moveTask(id, "cancelled", words), "reason")],
  complete: ["write", onTask((id) => moveTask(id, "completed"))],
  block: ["write", onTask((id, words) => moveTask(id, "blocked", words), "reason")],
  retry: ["write", onTask((id) => moveTask(id, "todo"))],
  put_back: ["write", onTask((id) => moveTask(id, "todo"))],
  start: ["write", start],
  free: ["write", taskPage],
  assign: ["write", taskPage],
  edit: ["write", taskPage],
  requeue: ["write", onTask(requeueTask)],
  confirm: ["write", onTask((id) => confirmChecks(id, true))],
  tell: ["write", onTask(steerTask, "tell")],
  activate: ["own", onAgent(activateAgent)],
  resume: ["write", onAgent(resumeAgent)],
  review: [null, review],
  merge: ["write", review],
  add_to_merge_queue: ["write", onTask(addToMergeQueue)],
  remove_from_merge_queue: ["write", onTask(removeFromMergeQueue)],
  resume_merge_queue: ["write", resumeQueue],
  answer: ["write", inProject("chat", "agent")],
  open: [null, inProject("chat", "agent")],
  why: [null, inProject("team", "agent")],
  log: [null, inProject("logs", "agent")],
  list: [null, list],
  usage: [null, inProject("usage")],
  raise: ["own", settings("projects")],
  renew: ["own", settings("agents")],
  correct: ["own", settings("agents")],
  change_program: ["own", settings("agents")],
  machines: [null, () => ({ how: "go", to: "/settings", search: { tab: "machines" } })],
  correct_project: ["own", settings("projects")],
  join: ["own", settings("agents")],
  show: [null, taskPage],
  resume_schedule: ["write", resume(resumeSchedule)],
  resume_webhook: ["write", resume(resumeWebhook)],
  show_webhook: [null, inSettings("webhooks")],
  show_schedule: [null, inSettings("schedules")],
};

export function actOf(need: Need, name: string): Act {
  return ACTS[name]?.[1](need) ?? { how: "command" };
}

/** What is offered to who looks. What no page knows is a command of somebody who may write. */
export function offered(need: Need, may: May): Need["actions"] {
  return need.actions.filter(({ name }) => {
    const needs = ACTS[name] === undefined ? "write" : ACTS[name][0];
    return needs === null || may(needs);
  });
}

/** The one that is offered first: what does something, before what only shows. */
export function primary(need: Need, may: May): Need["actions"][number] | undefined {
  const all = offered(need, may);
  return all.find((each) => actOf(need, each.name).how !== "command") ?? all[0];
}

/** The one for `r`: reject where one may, else the next thing that can be done about it. */
export function second(need: Need, may: May): Need["actions"][number] | undefined {
  const first = primary(need, may);
  const rest = offered(need, may).filter((each) => each !== first && actOf(need, each.name).how === "do");
  return rest.find((each) => each.name === "reject") ?? rest[0];
}

/** The subject of a need, without the words that its kind already says. */
export function subject(need: Need): string {
  const SAID = [
    ...["approval", "question", "blocked_by_guard", "blocked", "stuck", "stalled", "task"],
    ...["delegation_failed", "failed", "dead_letter", "review", "schedule_stopped", "webhook_stopped", "merge_queue"],
  ];
  const end = need.title.indexOf(": ");
  return SAID.includes(need.kind) && end !== -1 ? need.title.slice(end + 2) : need.title;
}
