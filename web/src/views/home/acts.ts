// What can be done about a need. The server says the deed: its operation, the arguments that are known, and the words of
// its button. Here is how a page carries an operation out: at once, or with words that it asks for first; and where a
// deed is done that takes more. One that no page knows is shown as its command.
import type { Need, TaskStatus } from "@/api/model";
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
  WANTS_REASON,
} from "@/api/actions";
import { EVERYTHING, written } from "@/api/filter";
import type { Deed } from "@/app/may";

export type Action = Need["actions"][number];

export type Act =
  | { how: "do"; run: (words: string) => Promise<unknown>; asks: null | "reason" | "tell" }
  | { how: "go"; to: string; search: Record<string, string> }
  | { how: "command" };

/** Whether who looks may do what an action asks for (web/src/app/may.ts). */
export type May = (deed: Deed) => boolean;

/** The arguments of the operations below: each has those that it takes. */
type Known = {
  task_id: string;
  status: TaskStatus;
  agent_id: string;
  project_id: string;
  schedule_id: string;
  webhook_id: string;
};

const DOES: Record<string, (known: Known, words: string) => Promise<unknown>> = {
  move_task: ({ task_id, status }, words) => moveTask(task_id, status, words),
  reject_task: ({ task_id }, words) => rejectTask(task_id, words),
  requeue_task: ({ task_id }) => requeueTask(task_id),
  confirm_checks: ({ task_id }) => confirmChecks(task_id, true),
  steer_task: ({ task_id }, words) => steerTask(task_id, words),
  activate_agent: ({ agent_id }) => activateAgent(agent_id),
  resume_agent: ({ agent_id }) => resumeAgent(agent_id),
  add_to_merge_queue: ({ task_id }) => addToMergeQueue(task_id),
  remove_from_merge_queue: ({ task_id }) => removeFromMergeQueue(task_id),
  resume_merge_queue: ({ project_id }) => resumeMergeQueue(project_id),
  resume_schedule: ({ schedule_id }) => resumeSchedule(schedule_id),
  resume_webhook: ({ webhook_id }) => resumeWebhook(webhook_id),
};

function asks(operation: string, { status }: Known): null | "reason" | "tell" {
  if (operation === "steer_task") return "tell";
  return operation === "reject_task" || (operation === "move_task" && WANTS_REASON.includes(status)) ? "reason" : null;
}

type Made = (need: Need) => Act | null;

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

/** Of dead letters: those of the queue that its key names. */
const list: Made = ({ kind, key, project_id }) => {
  if (project_id === null) return null;
  const queue = kind === "dead_letter" ? key.slice(`${kind} ${project_id} `.length) : "";
  const q = queue === "" ? undefined : written({ ...EVERYTHING, status: ["failed"], queue: [queue] });
  return { how: "go", to: `/p/${project_id}/list`, search: q === undefined ? {} : { q } };
};

const review: Made = ({ project_id, task_id }) =>
  project_id === null || task_id === null ? null : { how: "go", to: `/p/${project_id}/review/${task_id}`, search: {} };

/** What is shown whole in the row is approved there; a longer text is read first, where all of it is. */
const approve: Made = ({ task_id, request }) => {
  if (task_id === null) return null;
  if (!request?.complete) return { how: "go", to: `/t/${task_id}`, search: {} };
  return { how: "do", run: () => approveTask(task_id, request.version), asks: null };
};

const inSettings =
  (tab: string): Made =>
  ({ project_id }) => ({
    how: "go",
    to: "/settings",
    search: { tab, ...(project_id === null ? {} : { q: project_id }) },
  });

/** Where it is done, by the name of the verb. `null`: everyone who sees the need may go there. */
const GOES: Record<string, [needs: Deed | null, Made]> = {
  approve: ["write", approve],
  answer_question: ["write", taskPage],
  free: ["write", taskPage],
  assign: ["write", taskPage],
  edit: ["write", taskPage],
  review: [null, review],
  merge: ["write", review],
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
  show_webhook: [null, inSettings("webhooks")],
  show_schedule: [null, inSettings("schedules")],
};

export function actOf(need: Need, { name, operation, arguments: given }: Action): Act {
  const does = DOES[operation];
  if (does === undefined) return GOES[name]?.[1](need) ?? { how: "command" };
  const known = given as Known;
  return { how: "do", run: (words) => does(known, words), asks: asks(operation, known) };
}

/** What is offered to who looks. What no page knows is a command of somebody who may write. */
export function offered(need: Need, may: May): Action[] {
  return need.actions.filter(({ name, operation }) => {
    const needs = operation === "activate_agent" ? "own" : GOES[name] === undefined ? "write" : GOES[name][0];
    return needs === null || may(needs);
  });
}

/** The one that is offered first: what does something, before what only shows. */
export function primary(need: Need, may: May): Action | undefined {
  const all = offered(need, may);
  return all.find((each) => actOf(need, each).how !== "command") ?? all[0];
}

/** The one for `r`: reject where one may, else the next thing that can be done about it. */
export function second(need: Need, may: May): Action | undefined {
  const first = primary(need, may);
  const rest = offered(need, may).filter((each) => each !== first && actOf(need, each).how === "do");
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
