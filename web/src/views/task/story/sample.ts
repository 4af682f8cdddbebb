// For tests of the story: a task as a trace tells it.
import type { TraceTask } from "@/api/model";

export const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

export function traced(given: Partial<TraceTask> & { task_id: string }): TraceTask {
  return {
    title: given.task_id,
    status: "completed",
    project_id: "shop",
    assignee_id: "ada",
    agent_type: null,
    created_by: "mika",
    parent_task_id: null,
    dependencies: [],
    attempt: 1,
    created_at: at(0),
    started_at: at(0),
    completed_at: null,
    moved_at: at(0),
    duration_ms: null,
    summary: null,
    error: null,
    artifacts: [],
    attempts: [],
    waits: [],
    launches: [],
    decisions: [],
    checks: [],
    delegations: [],
    conversations: [],
    work: null,
    events: [],
    tasks: [],
    ...given,
  };
}

export function wait(
  cause: TraceTask["waits"][number]["cause"],
  since: number,
  until: number | null,
  more: Partial<TraceTask["waits"][number]> = {},
): TraceTask["waits"][number] {
  const end = until === null ? null : at(until);
  return { cause, since: at(since), until: end, on: [], reason: null, rule: null, event: null, ...more };
}

export function launch(
  id: string,
  from: number,
  to: number | null,
  more: Partial<TraceTask["launches"][number]> = {},
): TraceTask["launches"][number] {
  return {
    launch_id: id,
    agent_id: "ada",
    project_id: "shop",
    purpose: "task",
    task_id: "t",
    reason: "has_in_progress_task",
    state: to === null ? "signed_in" : "exited",
    ai_type: "claude",
    model: null,
    account: null,
    fence: 1,
    coordinator_id: "c1",
    ordered_at: at(from),
    deadline: at(from + 120),
    signed_in_at: at(from + 1),
    ended_at: to === null ? null : at(to),
    end_reason: to === null ? null : "reported",
    exit_code: to === null ? null : 0,
    exit_signal: null,
    exit_error: null,
    doing: null,
    ports: [],
    refused_hosts: null,
    usage: null,
    session: {
      session_id: `ses_${id}`,
      signed_in_at: at(from + 1),
      ended_at: to === null ? null : at(to),
      end_reason: null,
      calls: 3,
    },
    ...more,
  };
}
