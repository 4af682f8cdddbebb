// A project as the fields of a form, and back.
import { api } from "@/api/client";
import type { Project } from "@/api/model";
import { editProject, type ProjectEdit } from "@/api/projects";
import { inProject } from "@/api/routes";
import type { Patch } from "@/app/widening";
import type { Fields } from "@/views/settings/editing";
import type { Seen } from "@/views/settings/use-editing";

export const CHOICES = {
  language: ["en", "ja"],
  decomposition: ["required", "optional", "never"],
  isolation: ["none", "worktree"],
  network: ["off", "model", "allowlist", "open"],
  commands_from: ["people", "managers"],
  approvals: ["requests", "all"],
  start: ["when_ready", "manual"],
  dependencies: ["completed", "merged"],
  merge_queue: ["off", "manual", "automatic"],
  pull_requests: ["off", "open"],
  conflict_policy: ["off", "warn", "hold"],
} as const;
export const RULES = [
  "decomposition",
  "isolation",
  "network",
  "commands_from",
  "approvals",
  "start",
  "dependencies",
  "merge_queue",
  "pull_requests",
  "conflict_policy",
  "language",
] as const;
export const LIMITS = [
  "budget_per_day",
  "tokens_per_day",
  "merge_batch_size",
  "retry_attempts",
  "stall_seconds",
  "worker_subtasks",
  "open_subtasks",
  "subtasks_ever",
  "tree_depth",
  "open_requests",
  "requests_per_hour",
  "open_delegations",
  "delegations_ever",
] as const;
type Rule = (typeof RULES)[number];
type Network = (typeof CHOICES.network)[number];
type Start = (typeof CHOICES.start)[number];
type Choice = (typeof CHOICES)[Exclude<Rule, "network" | "start">][number];

/** The key of the words for a choice: `off` and `open` of the network, and `manual` of a start, mean something of their
 *  own. */
export const choiceKey = (name: Rule, value: Choice | Network | Start) =>
  name === "network"
    ? (`network.${value as Network}` as const)
    : name === "start"
      ? (`start.${value as Start}` as const)
      : (`choice.${value as Choice}` as const);

/** Each of these is a list, with a line for each. */
export const LINES = [
  "required_checks",
  "worktree_setup",
  "worktree_copy",
  "network_hosts",
  "setup_network",
  "ports",
] as const;
const OWN = ["name", "description", "working_directory"] as const;

export function fieldsOf(project: Project): Seen {
  const settings = Object.entries(project.settings).map(([name, value]) => [name, written(value)]);
  const own = OWN.map((name) => [name, project[name]]);
  return { fields: Object.fromEntries([...own, ...settings]) as Fields, version: project.version };
}

/** Checks have a line each: a command as it is, any other as JSON. So have other lists, whose lines are texts. */
function written(value: Project["settings"][string]): string {
  if (!Array.isArray(value)) return value === null ? "" : String(value);
  return value.map(line).join("\n");
}

const line = (each: object | string | number) =>
  typeof each !== "object" ? String(each) : isPlain(each) ? each.command : JSON.stringify(each);

function isPlain(check: object): check is { command: string } {
  const command: unknown = "command" in check ? check.command : null;
  return Object.keys(check).length === 1 && typeof command === "string" && !/[\n]|^\s*[[{]/.test(command);
}

/** Only what was changed; an empty budget is none. The server says which values are possible. */
export function bodyOf(changes: Fields): ProjectEdit {
  const body: ProjectEdit = {};
  for (const name of OWN) if (name in changes) body[name] = changes[name];
  const rest = Object.entries(changes).filter(([name]) => !OWN.some((each) => each === name));
  if (rest.length > 0)
    body.settings = Object.fromEntries(rest.map(([name, value]) => [name, value === "" ? null : value]));
  return body;
}

export const lookAt = (id: string) =>
  api.get("/projects/{project_id}", inProject(id)).then((answer) => fieldsOf(answer.project));

export const store = (id: string, patch: Patch) => (changes: Fields, version: number) =>
  patch((how) => editProject(id, { ...bodyOf(changes), ...how }, version)).then((answer) => fieldsOf(answer.project));
