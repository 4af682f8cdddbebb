// For tests of whole views: a project with something of everything, as the server answers it.
import type { Agent, Member, Overview, Project, Session, SharedValue, Sums } from "@/api/model";
import { work, worktreeJob } from "@/example-work";
import { card, deed, fullTask } from "@/testkit";

export const AT = "2026-01-01T00:00:00Z";
export const LATER = "2099-01-01T00:00:00Z";

export function agent(given: Partial<Agent> & { agent_id: string }): Agent {
  return {
    name: given.agent_id,
    kind: "ai",
    role: "worker",
    reports_to: null,
    status: "active",
    provider: "claude",
    ai_type: "claude",
    model: null,
    agent_type: null,
    capabilities: [],
    max_parallel_tasks: 1,
    system_prompt: "",
    provider_options: {},
    effective_options: {},
    mistakes: [],
    created_at: AT,
    updated_at: AT,
    version: 3,
    ...given,
  };
}

export function member(given: Partial<Member> & { agent_id: string }): Member {
  return {
    name: given.agent_id,
    role: "worker",
    kind: "ai",
    project_id: "shop",
    provider: "claude",
    model: null,
    state: "idle",
    purpose: null,
    task_id: null,
    task_title: null,
    action: null,
    step: null,
    last_call_at: null,
    doing: null,
    started_at: null,
    lease_until: null,
    tokens: null,
    cost_usd: null,
    launch_id: null,
    reason: "no_work",
    explanation: "Nothing is assigned to it.",
    until: null,
    ...given,
  };
}

export const sums = (given: Partial<Sums> = {}): Sums => ({
  launches: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  turns: 0,
  tool_calls: 0,
  cost_usd: null,
  without_price: 0,
  lower_bounds: 0,
  ...given,
});

export const ada = agent({ agent_id: "ada", name: "Ada", reports_to: "mika" });
export const mika = agent({ agent_id: "mika", name: "Mika", role: "manager", kind: "human", provider: null });

export const shop: Project = {
  id: "shop",
  project_id: "shop",
  name: "Corner shop",
  description: "Sells things.",
  status: "active",
  working_directory: "~/shop",
  settings: { decomposition: "optional", budget_per_day: 20 },
  created_at: AT,
  updated_at: AT,
  paused_at: null,
  version: 5,
};

export const session: Session = {
  session_id: "ses_1",
  agent_id: "ada",
  project_id: "shop",
  purpose: "task",
  task_id: "t1",
  launch_id: "lau_1",
  model_provider: "claude",
  model_id: "oak-2",
  model_verified: true,
  created_at: AT,
  last_call_at: AT,
  doing: null,
  expires_at: LATER,
  ended_at: null,
  end_reason: null,
  runaway: null,
  last_seen_at: AT,
  confirmed: true,
};

export const value: SharedValue = {
  key: "api/schema",
  value: { version: 2, paths: ["/buy"] },
  version: 2,
  expires_at: LATER,
  updated_by: "ada",
  updated_at: AT,
};

export const decision = {
  project_id: "shop",
  purpose: "task",
  action: "hold",
  reason: "no_work",
  row: "9",
  rule: "always",
  explanation: "Nothing is assigned to it. Create a task: toryo task add",
  summary: "Nothing is assigned to it.",
  facts: { tasks: 0 },
  task_id: null,
  since: AT,
  until: null,
  seconds_left: null,
};

export const task = fullTask({
  task_id: "t1",
  title: "Show prices",
  status: "blocked",
  assignee_id: "ada",
  priority: "high",
});

export const overview: Overview = {
  calm: { state: "runs", tasks: 0, until: null },
  look_again_after: 90,
  needs: [
    {
      kind: "approval",
      key: "approval t2",
      project_id: "shop",
      task_id: "t2",
      agent_id: "ada",
      path: "/t/t2",
      title: "Approval requested: Buy a server",
      text: "It is asked for.",
      since: AT,
      actions: [
        deed("approve", "Approve", "approve_task", { task_id: "t2" }, "toryo task approve t2"),
        deed("reject", "Reject", "reject_task", { task_id: "t2" }, "toryo task reject t2"),
        deed("show", "Open task", "show_task", { task_id: "t2" }, "toryo task show t2"),
      ],
      request: null,
      questions: [],
      blocks: 0,
    },
  ],
  since: {
    at: AT,
    completed_in_all: 1,
    failed_in_all: 0,
    completed: [{ task_id: "t3", title: "Built the house", at: AT }],
    failed: [],
    decided: 0,
    spent_usd: null,
  },
  team: [member({ agent_id: "ada", name: "Ada" })],
  queue: {
    running: 0,
    ready: 0,
    waiting: 0,
    held_in_all: 0,
    held: [],
    to_start: 0,
    stopped: 0,
    timed: 0,
    next_at: null,
  },
  fuel: { cooldowns: [], today: [] },
  plant: { version: "1", database: "sqlite", database_bytes: 4096, coordinators: [] },
  last_event: 1,
};

/** All that views read of it. */
export const ANSWERS: Record<string, object> = {
  "GET /agents": { agents: [mika, ada] },
  "GET /agents/ada": { agent: ada, projects: ["shop"], cooldowns: [] },
  "GET /agents/ada/why": { decisions: [decision] },
  "GET /projects": { projects: [shop] },
  "GET /projects/shop": { project: shop },
  "GET /projects/shop/members": { agents: [mika, ada] },
  "GET /projects/shop/board": { tasks: [card({ task_id: "t1", title: "Show prices" })], last_event: 1 },
  "GET /projects/shop/state": { entries: [value] },
  "GET /projects/shop/chats": { chats: [] },
  "GET /projects/shop/conversations": { conversations: [] },
  "GET /projects/shop/worktrees": { worktrees: [work] },
  "GET /projects/shop/keys": {
    keys: [
      {
        key_id: "key_1",
        project_id: "shop",
        name: "Night shift",
        agent_id: null,
        types: [],
        orchestrator: false,
        tools: [],
        created_by: "olga",
        created_at: AT,
        revoked_at: null,
      },
    ],
  },
  "GET /overview": overview,
  "GET /conditions": { conditions: [], look_again_after: 90 },
  "GET /demo": { here: false, projects: [], directory: "", waits_for: null },
  "GET /sessions": { sessions: [session] },
  "GET /sign-ins": {
    sign_ins: [
      {
        sign_in_id: "s1",
        login: "owner",
        how: "link",
        browser: null,
        created_at: AT,
        expires_at: LATER,
        this_one: true,
      },
    ],
  },
  "GET /events": { events: [], last: 0 },
  "GET /quotas": { quotas: [] },
  "GET /projects/shop/forecast": {
    state: "none",
    max_concurrent: null,
    started_at: null,
    ended_at: null,
    reason: null,
    forecast: null,
  },
  "GET /usage": {
    since: null,
    until: null,
    by: [],
    totals: sums(),
    rows: [],
    budgets: [],
    agent_budgets: [],
    task_budgets: [],
  },
  "GET /retention": {
    automatic: true,
    begins_at: null,
    database_bytes: 1_400_000_000,
    kinds: [
      { kind: "tasks", days: 180, setting: "TORYO_RETENTION__TASK_DAYS", rows: 24_800, oldest: AT, due: 12 },
      { kind: "audit", days: null, setting: "TORYO_RETENTION__AUDIT_DAYS", rows: null, oldest: null, due: 0 },
    ],
  },
  "GET /status": {
    version: "1",
    database: "sqlite",
    database_bytes: 4096,
    coordinators: [],
    projects: 1,
    agents: 1,
    running: 0,
    last_event: 1,
  },
  "GET /people": {
    people: [
      { person_id: "olga", name: "Olga", login: "owner", active: true, version: 1 },
      { person_id: "vera", name: "Vera", login: "viewer", active: true, version: 1 },
    ],
  },
  "GET /access-tokens": { access_tokens: [] },
  "GET /tasks/t1": { task },
  "GET /tasks/t1/moves": {
    moves: [
      { status: "in_progress", allowed: true, code: null, reason: null, instruction: null, needs_reason: false },
      { status: "cancelled", allowed: true, code: null, reason: null, instruction: null, needs_reason: true },
    ],
    may_judge: true,
  },
  "GET /tasks/t1/worktree": { worktree: work },
  "POST /tasks/t1/worktree/diff": worktreeJob,
  "GET /worktree-jobs/job_1": { worktree_job: worktreeJob },
};
