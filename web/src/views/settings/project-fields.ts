// A project as the fields of a form, and back.
import { get } from "@/api/client";
import type { Project } from "@/api/model";
import type { Fields } from "@/views/settings/editing";
import type { Seen } from "@/views/settings/use-editing";

export const CHOICES = {
  language: ["en", "ja"],
  decomposition: ["required", "optional", "never"],
  isolation: ["none", "worktree"],
  commands_from: ["people", "managers"],
  approvals: ["requests", "all"],
} as const;
export const RULES = ["decomposition", "isolation", "commands_from", "approvals", "language"] as const;
export const LIMITS = [
  "budget_per_day",
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
const OWN = ["name", "description", "working_directory"] as const;

export function fieldsOf(project: Project): Seen {
  const settings = Object.entries(project.settings).map(([name, value]) => [name, value === null ? "" : String(value)]);
  const own = OWN.map((name) => [name, project[name]]);
  return { fields: Object.fromEntries([...own, ...settings]) as Fields, version: project.version };
}

/** Only what was changed; an empty budget is none. The server says which values are possible. */
export function bodyOf(changes: Fields): Record<string, unknown> {
  const own = Object.entries(changes).filter(([name]) => OWN.some((each) => each === name));
  const rest = Object.entries(changes).filter(([name]) => !OWN.some((each) => each === name));
  const settings = Object.fromEntries(rest.map(([name, value]) => [name, value === "" ? null : value]));
  return { ...Object.fromEntries(own), ...(rest.length > 0 ? { settings } : {}) };
}

const path = (id: string, verb = "") => `/projects/${encodeURIComponent(id)}${verb}`;

export const lookAt = (id: string) => get<{ project: Project }>(path(id)).then((answer) => fieldsOf(answer.project));

type Patch = <T>(path: string, body: Record<string, unknown>, version: number) => Promise<T>;

export const store = (id: string, patch: Patch) => (changes: Fields, version: number) =>
  patch<{ project: Project }>(path(id), bodyOf(changes), version).then((answer) => fieldsOf(answer.project));
