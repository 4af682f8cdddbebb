// What the page reads, by key: one query per noun, so that an event can say exactly what to read again (`app/stale.ts`).
import { QueryClient, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { readBoard } from "@/api/boards";
import { Refused, api, onSignedOut } from "@/api/client";
import type { Board, Event } from "@/api/model";
import { inProject, ofAgent, ofTask, type QueryOf } from "@/api/routes";

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

export const me = queryOptions({ queryKey: ["me"], queryFn: () => api.get("/me"), retry: false });

onSignedOut(() => void queryClient.invalidateQueries({ queryKey: me.queryKey })); // the shell leads to the door

/** How one may come in here; `provider` is the host of an identity provider. */
export const waysIn = queryOptions({
  queryKey: ["ways-in"],
  queryFn: () => api.get("/sign-in"),
  retry: false,
});

/** About what, when, and whether this browser is notified. */
export const notificationSettings = queryOptions({
  queryKey: ["notification-settings"],
  queryFn: () => api.get("/notification-settings"),
});

export const projects = queryOptions({
  queryKey: ["projects"],
  queryFn: () => api.get("/projects").then((answer) => answer.projects),
});

/** Whether the demo's team is here, and why nobody works on it yet. */
export const demo = queryOptions({
  queryKey: ["demo"],
  queryFn: () => api.get("/demo"),
  refetchInterval: ({ state }) => (state.data?.waits_for ? 5_000 : false), // Coordinators that come are no events
});

export const agents = queryOptions({
  queryKey: ["agents"],
  queryFn: () => api.get("/agents").then((answer) => answer.agents),
});

export const overview = (projectId: string | null) =>
  queryOptions({
    queryKey: ["overview", projectId],
    queryFn: () => api.get("/overview", { query: { project_id: projectId } }),
    refetchInterval: ({ state }) => againAfter(state.data?.look_again_after),
  });

/** What keeps a project from going on; below the overview's key, for the same events make it stale. */
export const conditions = (projectId: string) =>
  queryOptions({
    queryKey: ["overview", projectId, "conditions"],
    queryFn: () => api.get("/conditions", { query: { project_id: projectId } }),
    refetchInterval: ({ state }) => againAfter(state.data?.look_again_after),
  });

/** When the server says that it may have changed without an event. */
function againAfter(seconds: number | undefined): number | false {
  return seconds === undefined ? false : seconds * 1000;
}

/** What waits for the person who looks; below the overview's key, for the same events make it stale. */
export const needs = (projectId: string | null) =>
  queryOptions({
    queryKey: ["overview", projectId, "needs"],
    queryFn: () => api.get("/needs-you", { query: { project_id: projectId } }).then((answer) => answer.items),
  });

export const board = (projectId: string) =>
  queryOptions({
    queryKey: ["board", projectId],
    queryFn: ({ client, queryKey }) => readBoard(client, queryKey, projectId),
    structuralSharing: false, // what has not changed is the same already
  });

const views = (projectId: string) =>
  api.get("/projects/{project_id}/views", inProject(projectId)).then((answer) => answer.views);

export const savedViews = (projectId: string) =>
  queryOptions({ queryKey: ["views", projectId], queryFn: () => views(projectId) });

/** The same with the counts of now: below its key, and stale with every change of a task. */
export const savedCounts = (projectId: string) =>
  queryOptions({ queryKey: ["views", projectId, "counts"], queryFn: () => views(projectId) });

export const task = (taskId: string) =>
  queryOptions({
    queryKey: ["task", taskId],
    queryFn: () => api.get("/tasks/{task_id}", ofTask(taskId)).then((answer) => answer.task),
  });

/** The title of a task that was read already, for where one cannot wait. */
export function titleKnown(taskId: string): string | undefined {
  const known = queryClient.getQueryData(task(taskId).queryKey)?.title;
  if (known !== undefined) return known;
  for (const [, cards] of queryClient.getQueriesData<Board>({ queryKey: ["board"] })) {
    const card = cards?.tasks.find((each) => each.task_id === taskId);
    if (card !== undefined) return card.title;
  }
  return undefined;
}

export const foundTasks = (text: string, projectId: string | null = null) =>
  queryOptions({
    queryKey: ["task-search", text, projectId],
    queryFn: ({ signal }) =>
      api.get("/task-search", { query: { text, project_id: projectId }, signal }).then((answer) => answer.tasks),
    staleTime: 10_000,
  });

/** Where the person who asks may move a task now, and whether they may judge it, were it a request. */
export const moves = (taskId: string) =>
  queryOptions({
    queryKey: ["moves", taskId],
    queryFn: () => api.get("/tasks/{task_id}/moves", ofTask(taskId)),
    staleTime: 0,
  });

export const why = (agentId: string) =>
  queryOptions({
    queryKey: ["why", agentId],
    queryFn: () => api.get("/agents/{agent_id}/why", ofAgent(agentId)).then((answer) => answer.decisions),
  });

export const sessions = (projectId: string | null) =>
  queryOptions({
    queryKey: ["sessions", projectId],
    queryFn: () => api.get("/sessions", { query: { project_id: projectId } }).then((answer) => answer.sessions),
    // No event tells that an agent is heard of again.
    refetchInterval: (query) => (query.state.data?.some((each) => !each.confirmed) === true ? 5_000 : false),
  });

export const launches = (wanted: QueryOf<"get", "/launches">) =>
  queryOptions({
    queryKey: ["launches", wanted],
    queryFn: () => api.get("/launches", { query: wanted }).then((answer) => answer.launches),
  });

/** The processes that run now, with what they do: the stream of events keeps that fresh (app/live.ts). */
export const liveLaunches = queryOptions({
  queryKey: ["launches", { live: true }],
  queryFn: () => api.get("/launches", { query: { live: true } }).then((answer) => answer.launches),
});

export const events = (wanted: QueryOf<"get", "/events">) =>
  queryOptions({
    queryKey: ["events", wanted],
    queryFn: () => api.get("/events", { query: wanted }),
  });

type Narrowing = Pick<
  QueryOf<"get", "/events">,
  "project_id" | "task_id" | "agent_id" | "actor_id" | "correlation_id" | "kind" | "since" | "until"
>;
export type EventsWanted = { [Name in keyof Narrowing]?: NonNullable<Narrowing[Name]> | undefined };

/** An event that is known, in the language of the page. */
export const oneEvent = ({ sequence, kind }: Event) =>
  api
    .get("/events", { query: { after: sequence - 1, limit: 1, kind } })
    .then(({ events: [found] }) => found)
    .catch(() => undefined);

/** The event log backwards, page by page. What is new is put before the first page by who shows it. */
export const history = (wanted: EventsWanted) =>
  infiniteQueryOptions({
    queryKey: ["history", wanted],
    queryFn: ({ pageParam }) =>
      api.get("/events", { query: { ...wanted, newest: true, limit: 60, before: pageParam } }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.events.length === 0 ? null : page.last),
  });

export const chats = (projectId: string) =>
  queryOptions({
    queryKey: ["chats", projectId],
    queryFn: () => api.get("/projects/{project_id}/chats", inProject(projectId)).then((answer) => answer.chats),
  });

export const conversations = (projectId: string) =>
  queryOptions({
    queryKey: ["conversations", projectId],
    queryFn: () =>
      api.get("/projects/{project_id}/conversations", inProject(projectId)).then((answer) => answer.conversations),
  });

export const conversation = (conversationId: string) =>
  queryOptions({
    queryKey: ["conversations", "one", conversationId],
    queryFn: () => api.get("/conversations/{conversation_id}", { path: { conversation_id: conversationId } }),
  });

export const members = (projectId: string) =>
  queryOptions({
    queryKey: ["members", projectId],
    queryFn: () => api.get("/projects/{project_id}/members", inProject(projectId)).then((answer) => answer.agents),
  });

export const sharedState = (projectId: string) =>
  queryOptions({
    queryKey: ["shared", projectId],
    queryFn: () => api.get("/projects/{project_id}/state", inProject(projectId)).then((answer) => answer.entries),
    refetchInterval: 30_000, // what expires says nothing
  });

export const usage = (wanted: QueryOf<"get", "/usage">) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => api.get("/usage", { query: wanted }),
    refetchInterval: 30_000, // programs tell what they use while they run, without an event
  });

export const templates = (projectId: string) =>
  queryOptions({
    queryKey: ["templates", projectId],
    queryFn: () => api.get("/projects/{project_id}/templates", inProject(projectId)).then((answer) => answer.templates),
  });

export const quotas = queryOptions({
  queryKey: ["quotas"],
  queryFn: () => api.get("/quotas").then((answer) => answer.quotas),
  refetchInterval: 30_000, // as usage
});

export const apiKeys = (projectId: string) =>
  queryOptions({
    queryKey: ["keys", projectId],
    queryFn: () => api.get("/projects/{project_id}/keys", inProject(projectId)).then((answer) => answer.keys),
  });

export const signIns = queryOptions({
  queryKey: ["sign-ins"],
  queryFn: () => api.get("/sign-ins").then((answer) => answer.sign_ins),
});

/** How long what is over is kept. It is read again whenever somebody looks: time passes without an event. */
export const retention = queryOptions({
  queryKey: ["retention"],
  queryFn: () => api.get("/retention"),
  staleTime: 0,
});

export const serverStatus = queryOptions({
  queryKey: ["status"],
  queryFn: () => api.get("/status"),
  refetchInterval: 10_000, // heartbeats are no events
});

export const agentDetails = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId],
    queryFn: () => api.get("/agents/{agent_id}", ofAgent(agentId)),
  });

export const worktree = (taskId: string) =>
  queryOptions({
    queryKey: ["worktree", taskId],
    queryFn: () => api.get("/tasks/{task_id}/worktree", ofTask(taskId)).then((answer) => answer.worktree),
  });

/** The open worktrees of a project. */
export const worktrees = (projectId: string) =>
  queryOptions({
    queryKey: ["worktrees", projectId],
    queryFn: () =>
      api
        .get("/projects/{project_id}/worktrees", { ...inProject(projectId), query: { state: "open", limit: 1000 } })
        .then((answer) => answer.worktrees),
  });

/** What waits to be merged in a project. */
export const mergeQueue = (projectId: string) =>
  queryOptions({
    queryKey: ["merge-queue", projectId],
    queryFn: () =>
      api.get("/projects/{project_id}/merge-queue", inProject(projectId)).then((answer) => answer.merge_queue),
  });

export const people = queryOptions({
  queryKey: ["people"],
  queryFn: () => api.get("/people").then((answer) => answer.people),
});

export const accessTokens = queryOptions({
  queryKey: ["access-tokens"],
  queryFn: () => api.get("/access-tokens").then((answer) => answer.access_tokens),
});
