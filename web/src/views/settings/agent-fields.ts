// An agent as the fields of a form, and back. Of `provider_options` what the form knows has fields of its own; all the
// rest stays as JSON, so that nothing is lost.
import { api } from "@/api/client";
import type { AgentEdit, NewAgent } from "@/api/agents";
import type { Agent } from "@/api/model";
import { ofAgent } from "@/api/routes";
import { listed, type Fields } from "@/views/settings/editing";
import { fallbackOf, linesOf, wrongLine } from "@/views/settings/fallback-lines";
import type { Seen } from "@/views/settings/use-editing";

const PLAIN = ["name", "system_prompt"] as const;
const ROLES: readonly Agent["role"][] = ["owner", "manager", "worker"];
const OR_NOTHING = ["reports_to", "provider", "model", "agent_type"] as const;
const OPTIONS = ["permissions", "commands", "fallback", "labels", "account", "others"] as const;

/** Nobody has chosen yet: what fits is taken. */
export const UNSAID = "?";

export const EMPTY: Fields = {
  id: "",
  name: "",
  role: "worker",
  reports_to: UNSAID,
  provider: UNSAID,
  model: "",
  system_prompt: "",
  agent_type: "",
  capabilities: "",
  max_parallel_tasks: "1",
  permissions: "",
  commands: "",
  fallback: "",
  labels: "",
  account: "",
  others: "{}",
};

export function fieldsOf(agent: Agent): Seen {
  const { permissions, commands, fallback, labels, account, ...others } = agent.provider_options;
  const lines = linesOf(fallback);
  const fields: Fields = {
    name: agent.name,
    role: agent.role,
    system_prompt: agent.system_prompt,
    reports_to: agent.reports_to ?? "",
    provider: agent.provider ?? "",
    model: agent.model ?? "",
    agent_type: agent.agent_type ?? "",
    capabilities: agent.capabilities.join(", "),
    max_parallel_tasks: String(agent.max_parallel_tasks),
    permissions: text(permissions),
    commands: Array.isArray(commands) ? commands.join("\n") : "",
    fallback: lines ?? "",
    labels: Array.isArray(labels) ? labels.join(", ") : "",
    account: text(account),
    others: JSON.stringify({ ...others, ...(lines === null ? { fallback } : {}) }, null, 2),
  };
  return { fields, version: agent.version };
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

type Body = Partial<Omit<NewAgent, "id" | "kind" | "projects" | "preview">>;

/** What is sent for these changes; `all` has every field, for what is made of several. */
export function bodyOf(changes: Fields, all: Fields): Body {
  const body: Body = {};
  for (const name of PLAIN) if (name in changes) body[name] = changes[name];
  for (const role of ROLES) if (changes["role"] === role) body.role = role;
  for (const name of OR_NOTHING) if (name in changes) body[name] = changes[name] || null;
  if ("capabilities" in changes) body.capabilities = listed(changes["capabilities"] ?? "");
  if ("max_parallel_tasks" in changes) body.max_parallel_tasks = Number(changes["max_parallel_tasks"]);
  if (OPTIONS.some((name) => name in changes)) body.provider_options = optionsOf(all);
  return body;
}

/** As an edit of an agent: the form shows all of its options, so what is sent are all of them. */
export function editOf(changes: Fields, all: Fields): AgentEdit {
  const body = bodyOf(changes, all);
  return "provider_options" in body ? { ...body, replace_options: true } : body;
}

/** Raises SyntaxError where `wrongOptions` says that something is wrong. */
export function optionsOf(all: Fields): Record<string, unknown> {
  const fallback = fallbackOf(all["fallback"] ?? "");
  const labels = listed(all["labels"] ?? "");
  const commands = linesIn(all["commands"] ?? "");
  return {
    ...objectOf(all["others"] ?? ""),
    ...(all["permissions"] ? { permissions: all["permissions"] } : {}),
    ...(commands.length > 0 && all["permissions"] !== "full" ? { commands } : {}),
    ...(fallback === undefined ? {} : { fallback }),
    ...(labels.length > 0 ? { labels } : {}),
    ...(all["account"] ? { account: all["account"] } : {}),
  };
}

/** One of each line: a command may have commas. */
const linesIn = (said: string) =>
  said
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);

function objectOf(said: string): Record<string, unknown> {
  const value: unknown = said.trim() === "" ? {} : JSON.parse(said);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("{ … }");
  return value as Record<string, unknown>;
}

/** What is wrong with the other options; null if nothing. */
export function wrongJson(said: string): string | null {
  try {
    objectOf(said);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether something of the options can be no option, so that nothing can be sent. */
export const wrongOptions = (said: Fields) =>
  wrongJson(said["others"] ?? "") !== null || wrongLine(said["fallback"] ?? "") !== null;

export const lookAt = (id: string) =>
  api.get("/agents/{agent_id}", ofAgent(id)).then((answer) => fieldsOf(answer.agent));
