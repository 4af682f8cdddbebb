// What a person does with agents and their places in projects: one function for each verb.
import { send } from "@/api/client";
import type { Agent } from "@/api/model";

export const agentPath = (agentId: string, verb = "") => `/agents/${encodeURIComponent(agentId)}${verb}`;

/** What one may say about an agent; what is left out stays as it is. */
export interface AgentEdit {
  name?: string;
  role?: Agent["role"];
  reports_to?: string | null;
  provider?: string | null;
  model?: string | null;
  system_prompt?: string;
  agent_type?: string | null;
  capabilities?: string[];
  max_parallel_tasks?: number;
}

export interface NewAgent extends AgentEdit {
  id?: string;
  role: Agent["role"];
  kind: Agent["kind"];
  projects: string[];
}

/** The passkey is told once, here. */
export function createAgent(wanted: NewAgent, idempotencyKey: string): Promise<{ agent: Agent; passkey: string }> {
  return send("POST", "/agents", { body: wanted, idempotencyKey });
}

export function deactivateAgent(agentId: string): Promise<unknown> {
  return send("POST", agentPath(agentId, "/deactivate"), { body: {} });
}

export function renewPasskey(agentId: string): Promise<{ passkey: string }> {
  return send("POST", agentPath(agentId, "/passkey"), { body: {} });
}

export function setMember(projectId: string, agentId: string, member: boolean): Promise<unknown> {
  const place = `/projects/${encodeURIComponent(projectId)}/members/${encodeURIComponent(agentId)}`;
  return send(member ? "POST" : "DELETE", place, member ? { body: {} } : {});
}
