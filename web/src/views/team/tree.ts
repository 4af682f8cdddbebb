// The reporting tree, and the changes that a form about an agent makes. Pure.
import type { AgentEdit } from "@/api/agents";
import type { Agent } from "@/api/model";

export interface Branch {
  agent: Agent;
  /** Stands above members, and is none itself. */
  outside: boolean;
  below: Branch[];
}

const RANK = { owner: 0, manager: 1, worker: 2 };

/**
 * The members of a project below their superiors; superiors outside the project are shown if a member reports to them.
 */
export function forest(agents: readonly Agent[], members: readonly string[]): Branch[] {
  const byId = new Map(agents.map((each) => [each.agent_id, each]));
  const inside = new Set(members.filter((each) => byId.has(each)));
  const shown = new Set([...inside].flatMap((id) => [id, ...above(id, byId)]));
  const superior = (agent: Agent) =>
    agent.reports_to !== null && shown.has(agent.reports_to) && !above(agent.reports_to, byId).includes(agent.agent_id)
      ? agent.reports_to
      : null;
  const branches = (of: string | null): Branch[] =>
    agents
      .filter((each) => shown.has(each.agent_id) && superior(each) === of)
      .sort((a, b) => RANK[a.role] - RANK[b.role] || a.name.localeCompare(b.name))
      .map((agent) => ({ agent, outside: !inside.has(agent.agent_id), below: branches(agent.agent_id) }));
  return branches(null);
}

/** The superiors of an agent, the nearest first; a circle ends where it closes. */
function above(id: string, byId: ReadonlyMap<string, Agent>): string[] {
  const found: string[] = [];
  for (let at = byId.get(id)?.reports_to; at && byId.has(at) && !found.includes(at); at = byId.get(at)?.reports_to)
    found.push(at);
  return found;
}

/** Who may be the superior of an agent: everybody active who does not stand below it, and who is it already. */
export function possibleSuperiors(agents: readonly Agent[], { agent_id, reports_to }: Agent): Agent[] {
  const byId = new Map(agents.map((each) => [each.agent_id, each]));
  return agents
    .filter((each) => each.agent_id !== agent_id && !above(each.agent_id, byId).includes(agent_id))
    .filter((each) => each.status === "active" || each.agent_id === reports_to);
}

/** What stands in the form, as text. */
export interface AgentForm {
  id: string;
  kind: Agent["kind"];
  name: string;
  role: Agent["role"];
  reportsTo: string;
  provider: string;
  model: string;
  queue: string;
  capabilities: string;
  parallel: string;
  prompt: string;
}

export function formOf(agent: Agent): AgentForm {
  return {
    id: agent.agent_id,
    kind: agent.kind,
    name: agent.name,
    role: agent.role,
    reportsTo: agent.reports_to ?? "",
    provider: agent.provider ?? "",
    model: agent.model ?? "",
    queue: agent.agent_type ?? "",
    capabilities: agent.capabilities.join(", "),
    parallel: String(agent.max_parallel_tasks),
    prompt: agent.system_prompt,
  };
}

export function editOf(form: AgentForm) {
  const orNull = (text: string) => text.trim() || null;
  const program = form.kind === "ai";
  return {
    name: form.name.trim() || form.id.trim(),
    role: form.role,
    reports_to: orNull(form.reportsTo),
    provider: program ? orNull(form.provider) : null,
    model: program ? orNull(form.model) : null,
    agent_type: orNull(form.queue),
    capabilities: form.capabilities
      .split(/[,、]/)
      .map((each) => each.trim())
      .filter(Boolean),
    max_parallel_tasks: Number(form.parallel),
    system_prompt: form.prompt,
  } satisfies AgentEdit;
}

/** Only what differs: what somebody else has changed meanwhile is not written over. */
export function changedFields(before: Agent, form: AgentForm): AgentEdit {
  const was = editOf(formOf(before));
  const now = editOf(form);
  const names = Object.keys(now) as (keyof typeof now)[];
  return Object.fromEntries(
    names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(now[name])).map((name) => [name, now[name]]),
  );
}
