// What the page reads, by key: one query per noun, so that an event can say exactly what to read again (`app/live.ts`).
import { QueryClient, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { readBoard } from "@/api/boards";
import { Refused, get, onSignedOut, type Query } from "@/api/client";
import { askDiff } from "@/api/worktrees";
import type {
  AccessToken,
  Agent,
  ApiKey,
  ChatThread,
  Conversation,
  Decision,
  Demo,
  Event,
  Launch,
  Me,
  Message,
  Move,
  Overview,
  Person,
  Project,
  Retention,
  ServerStatus,
  Session,
  SharedValue,
  SignIn,
  Task,
  Trace,
  UsageAnswer,
  UsageGroup,
  Worktree,
} from "@/api/model";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity, // what has changed is told by the stream of events
      retry: (failures, error) => !(error instanceof Refused) && failures < 5,
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 8000),
      refetchOnWindowFocus: false,
    },
  },
});

export const me = queryOptions({ queryKey: ["me"], queryFn: () => get<Me>("/me"), retry: false });

onSignedOut(() => void queryClient.invalidateQueries({ queryKey: me.queryKey })); // the shell leads to the door

/** How one may come in here; `provider` is the host of an identity provider. */
export const waysIn = queryOptions({
  queryKey: ["ways-in"],
  queryFn: () => get<{ password: boolean; provider: string | null }>("/sign-in"),
  retry: false,
});

export const projects = queryOptions({
  queryKey: ["projects"],
  queryFn: () => get<{ projects: Project[] }>("/projects").then((answer) => answer.projects),
});

/** Whether the demo's team is here, and why nobody works on it yet. */
export const demo = queryOptions({
  queryKey: ["demo"],
  queryFn: () => get<Demo>("/demo"),
  refetchInterval: ({ state }) => (state.data?.waits_for ? 5_000 : false), // Coordinators that come are no events
});

export const agents = queryOptions({
  queryKey: ["agents"],
  queryFn: () => get<{ agents: Agent[] }>("/agents").then((answer) => answer.agents),
});

export const overview = (projectId: string | null) =>
  queryOptions({
    queryKey: ["overview", projectId],
    queryFn: () => get<Overview>("/overview", { project_id: projectId }),
  });

export const board = (projectId: string) =>
  queryOptions({
    queryKey: ["board", projectId],
    queryFn: ({ client, queryKey }) => readBoard(client, queryKey, projectId),
    structuralSharing: false, // what has not changed is the same already
  });

export const task = (taskId: string) =>
  queryOptions({
    queryKey: ["task", taskId],
    queryFn: () => get<{ task: Task }>(`/tasks/${encodeURIComponent(taskId)}`).then((answer) => answer.task),
  });

/** Where the person who asks may move a task now, and whether they may judge it, were it a request. */
export const moves = (taskId: string) =>
  queryOptions({
    queryKey: ["moves", taskId],
    queryFn: () => get<{ moves: Move[]; may_judge: boolean }>(`/tasks/${encodeURIComponent(taskId)}/moves`),
    staleTime: 0,
  });

export const why = (agentId: string) =>
  queryOptions({
    queryKey: ["why", agentId],
    queryFn: () =>
      get<{ decisions: Decision[] }>(`/agents/${encodeURIComponent(agentId)}/why`).then((answer) => answer.decisions),
  });

export const sessions = (projectId: string | null) =>
  queryOptions({
    queryKey: ["sessions", projectId],
    queryFn: () =>
      get<{ sessions: Session[] }>("/sessions", { project_id: projectId }).then((answer) => answer.sessions),
    // No event tells that an agent is heard of again.
    refetchInterval: (query) => (query.state.data?.some((each) => !each.confirmed) === true ? 5_000 : false),
  });

export const launches = (wanted: { project_id?: string; agent_id?: string; task_id?: string }) =>
  queryOptions({
    queryKey: ["launches", wanted],
    queryFn: () => get<{ launches: Launch[] }>("/launches", wanted).then((answer) => answer.launches),
  });

export const events = (wanted: {
  after?: number;
  limit?: number;
  project_id?: string;
  task_id?: string;
  agent_id?: string;
}) =>
  queryOptions({
    queryKey: ["events", wanted],
    queryFn: () => get<{ events: Event[]; last: number }>("/events", wanted),
  });

export interface EventsWanted {
  project_id?: string | undefined;
  task_id?: string | undefined;
  agent_id?: string | undefined;
  actor_id?: string | undefined;
  correlation_id?: string | undefined;
  kind?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** The event log backwards, page by page. What is new is put before the first page by who shows it. */
export const history = (wanted: EventsWanted) =>
  infiniteQueryOptions({
    queryKey: ["history", wanted],
    queryFn: ({ pageParam }) =>
      get<{ events: Event[]; last: number }>("/events", { ...wanted, newest: true, limit: 60, before: pageParam }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.events.length === 0 ? null : page.last),
  });

export const chats = (projectId: string) =>
  queryOptions({
    queryKey: ["chats", projectId],
    queryFn: () =>
      get<{ chats: ChatThread[] }>(`/projects/${encodeURIComponent(projectId)}/chats`).then((answer) => answer.chats),
  });

export const conversations = (projectId: string) =>
  queryOptions({
    queryKey: ["conversations", projectId],
    queryFn: () =>
      get<{ conversations: Conversation[] }>(`/projects/${encodeURIComponent(projectId)}/conversations`).then(
        (answer) => answer.conversations,
      ),
  });

export const conversation = (conversationId: string) =>
  queryOptions({
    queryKey: ["conversations", "one", conversationId],
    queryFn: () =>
      get<{ conversation: Conversation; messages: Message[] }>(`/conversations/${encodeURIComponent(conversationId)}`),
  });

export const members = (projectId: string) =>
  queryOptions({
    queryKey: ["members", projectId],
    queryFn: () =>
      get<{ agents: Agent[] }>(`/projects/${encodeURIComponent(projectId)}/members`).then((answer) => answer.agents),
  });

export const sharedState = (projectId: string) =>
  queryOptions({
    queryKey: ["shared", projectId],
    queryFn: () =>
      get<{ entries: SharedValue[] }>(`/projects/${encodeURIComponent(projectId)}/state`).then(
        (answer) => answer.entries,
      ),
    refetchInterval: 30_000, // what expires says nothing
  });

export const usage = (wanted: {
  project_id?: string | undefined;
  task_id?: string | undefined;
  days?: number | undefined;
  by?: UsageGroup[];
}) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => get<UsageAnswer>("/usage", wanted),
    refetchInterval: 30_000, // programs tell what they use while they run, without an event
  });

export const apiKeys = (projectId: string) =>
  queryOptions({
    queryKey: ["keys", projectId],
    queryFn: () =>
      get<{ keys: ApiKey[] }>(`/projects/${encodeURIComponent(projectId)}/keys`).then((answer) => answer.keys),
  });

export const signIns = queryOptions({
  queryKey: ["sign-ins"],
  queryFn: () => get<{ sign_ins: SignIn[] }>("/sign-ins").then((answer) => answer.sign_ins),
});

/** How long what is over is kept. It is read again whenever somebody looks: time passes without an event. */
export const retention = queryOptions({
  queryKey: ["retention"],
  queryFn: () => get<Retention>("/retention"),
  staleTime: 0,
});

export const serverStatus = queryOptions({
  queryKey: ["status"],
  queryFn: () => get<ServerStatus>("/status"),
  refetchInterval: 10_000, // heartbeats are no events
});

export const agentDetails = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId],
    queryFn: () =>
      get<{ agent: Agent; projects: string[]; cooldowns: { what: string; reason: string; until: string }[] }>(
        `/agents/${encodeURIComponent(agentId)}`,
      ),
  });

export const worktree = (taskId: string) =>
  queryOptions({
    queryKey: ["worktree", taskId],
    queryFn: () =>
      get<{ worktree: Worktree }>(`/tasks/${encodeURIComponent(taskId)}/worktree`).then((answer) => answer.worktree),
  });

/** The open worktrees of a project. */
export const worktrees = (projectId: string) =>
  queryOptions({
    queryKey: ["worktrees", projectId],
    queryFn: () =>
      get<{ worktrees: Worktree[] }>(`/projects/${encodeURIComponent(projectId)}/worktrees`, {
        state: "open",
        limit: 1000,
      }).then((answer) => answer.worktrees),
  });

/** What a task has changed, as its Coordinator answers it. */
export const diff = (taskId: string) =>
  queryOptions({ queryKey: ["worktree", taskId, "diff"], queryFn: ({ signal }) => askDiff(taskId, signal) });

/** Everything that belongs to one request: its correlation id, or the id of one of its tasks. */
export const trace = (id: string) =>
  queryOptions({
    queryKey: ["trace", id],
    queryFn: () => get<Trace>(`/traces/${encodeURIComponent(id)}`),
    refetchOnMount: "always",
  });

const PAGE = 1000;
const MOST_PAGES = 30;

/** A list, page after page, to its end. Of a very long one the first thirty thousand. */
async function whole<Key extends string, Item>(
  path: string,
  key: Key,
  wanted: Query,
  signal: AbortSignal,
): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const asked: Query = { ...wanted, limit: PAGE, cursor };
    const answer: Record<Key, Item[]> & { next_cursor?: string } = await get(path, asked, signal);
    found.push(...answer[key]);
    cursor = answer.next_cursor;
    if (cursor === undefined) break;
  }
  return found;
}

/** What was said about a task, the oldest first. */
export const taskMessages = (taskId: string) =>
  queryOptions({
    queryKey: ["chat", "about", taskId],
    queryFn: ({ signal }) =>
      whole<"messages", Message>(`/tasks/${encodeURIComponent(taskId)}/messages`, "messages", {}, signal),
  });

/** Every launch of a project, the newest first, as it was when it was read: `launches` says what is new since. */
export const launchHistory = (projectId: string) =>
  queryOptions({
    queryKey: ["launch-history", projectId],
    queryFn: ({ signal }) => whole<"launches", Launch>("/launches", "launches", { project_id: projectId }, signal),
    refetchOnMount: "always",
  });

/** The events of one noun (`task.`) in a project, the oldest first: what the past is rebuilt from. Of a very long log
 * the newest thirty thousand. The timeline puts what happens now behind them. */
export const eventLog = (projectId: string, kind: string) =>
  queryOptions({
    queryKey: ["log", projectId, kind],
    queryFn: async ({ signal }) => {
      const backwards: Event[] = [];
      for (let before: number | null = null, page = 0; page < MOST_PAGES; page++) {
        const wanted: Query = { project_id: projectId, kind, newest: true, before, limit: PAGE };
        const answer: { events: Event[]; last: number } = await get("/events", wanted, signal);
        backwards.push(...answer.events);
        if (answer.events.length < PAGE) break;
        before = answer.last;
      }
      return backwards.reverse();
    },
  });

export const people = queryOptions({
  queryKey: ["people"],
  queryFn: () => get<{ people: Person[] }>("/people").then((answer) => answer.people),
});

export const accessTokens = queryOptions({
  queryKey: ["access-tokens"],
  queryFn: () => get<{ access_tokens: AccessToken[] }>("/access-tokens").then((answer) => answer.access_tokens),
});
