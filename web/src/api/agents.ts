// What a person does with agents and their places in projects: one function for each verb.
import { api } from "@/api/client";
import { ofAgent, type BodyOf } from "@/api/routes";

/** What one may say about an agent; what is left out stays as it is. */
export type AgentEdit = BodyOf<"patch", "/agents/{agent_id}">;

export type NewAgent = BodyOf<"post", "/agents">;

/** The passkey is told once, here. */
export function createAgent(wanted: NewAgent, idempotencyKey: string) {
  return api.post("/agents", { body: wanted, idempotencyKey });
}

/** With `preview` nothing is changed: the answer says which rights it would widen. */
export function editAgent(agentId: string, edit: AgentEdit, version: number) {
  return api.patch("/agents/{agent_id}", { ...ofAgent(agentId), body: edit, version });
}

export function deactivateAgent(agentId: string) {
  return api.post("/agents/{agent_id}/deactivate", ofAgent(agentId));
}

export function renewPasskey(agentId: string) {
  return api.post("/agents/{agent_id}/passkey", ofAgent(agentId));
}

export function setMember(projectId: string, agentId: string, member: boolean) {
  const place = { path: { project_id: projectId, agent_id: agentId } };
  return member
    ? api.post("/projects/{project_id}/members/{agent_id}", place)
    : api.delete("/projects/{project_id}/members/{agent_id}", place);
}

/** Ends it by force: its process is given no time to leave by itself. */
export function endSession(sessionId: string, reason: string) {
  const query = { reason: reason.trim() || undefined };
  return api.delete("/sessions/{session_id}", { path: { session_id: sessionId }, query });
}
