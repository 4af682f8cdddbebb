// Every address of the page, and which view it shows. A view is loaded when it is first looked at.
import { Outlet, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";

import { agents, board as cards, overview, queryClient } from "@/api/queries";
import { NotFound } from "@/app/notfound";
import { Shell } from "@/app/shell";

/** What an address may say besides its path: which task is open, what is searched, how it is shown. */
export interface Search {
  task?: string;
  agent?: string;
  launch?: string;
  tab?: string;
  q?: string;
  by?: string;
}

const NAMES = ["task", "agent", "launch", "tab", "q", "by"] as const;

function validateSearch(given: Record<string, unknown>): Search {
  const said: Search = {};
  for (const name of NAMES) if (typeof given[name] === "string") said[name] = given[name];
  return said;
}

// What a view reads first is asked for while its script still comes, not after. Nothing waits here: the view itself does.
const glance = (projectId: string | null) => {
  void queryClient.prefetchQuery(overview(projectId));
  void queryClient.prefetchQuery(agents);
};
const allTasks = ({ params }: { params: { projectId: string } }) => {
  void queryClient.prefetchQuery(cards(params.projectId));
  void queryClient.prefetchQuery(agents);
};

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("@/views/signin"), "SignIn"),
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell, validateSearch });
const everywhere = createRoute({
  getParentRoute: () => shell,
  path: "/",
  loader: () => glance(null),
  component: lazyRouteComponent(() => import("@/views/home"), "Home"),
});
const task = createRoute({
  getParentRoute: () => shell,
  path: "/t/$taskId",
  component: lazyRouteComponent(() => import("@/views/task"), "TaskPage"),
});
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/views/settings"), "Settings"),
});
const project = createRoute({ getParentRoute: () => shell, path: "/p/$projectId", component: Outlet });
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  loader: ({ params }) => glance(params.projectId),
  component: lazyRouteComponent(() => import("@/views/home"), "Home"),
});
const board = createRoute({
  getParentRoute: () => project,
  path: "/board",
  loader: allTasks,
  component: lazyRouteComponent(() => import("@/views/board"), "Board"),
});
const list = createRoute({
  getParentRoute: () => project,
  path: "/list",
  loader: allTasks,
  component: lazyRouteComponent(() => import("@/views/list"), "List"),
});
const graph = createRoute({
  getParentRoute: () => project,
  path: "/graph",
  component: lazyRouteComponent(() => import("@/views/graph"), "Graph"),
});
const timeline = createRoute({
  getParentRoute: () => project,
  path: "/timeline",
  component: lazyRouteComponent(() => import("@/views/timeline"), "Timeline"),
});
const team = createRoute({
  getParentRoute: () => project,
  path: "/team",
  component: lazyRouteComponent(() => import("@/views/team"), "Team"),
});
const review = createRoute({
  getParentRoute: () => project,
  path: "/review/$taskId",
  component: lazyRouteComponent(() => import("@/views/review"), "Review"),
});
const chat = createRoute({
  getParentRoute: () => project,
  path: "/chat",
  component: lazyRouteComponent(() => import("@/views/chat"), "Chat"),
});
const sessions = createRoute({
  getParentRoute: () => project,
  path: "/sessions",
  component: lazyRouteComponent(() => import("@/views/sessions"), "Sessions"),
});
const state = createRoute({
  getParentRoute: () => project,
  path: "/state",
  component: lazyRouteComponent(() => import("@/views/state"), "SharedState"),
});
const logs = createRoute({
  getParentRoute: () => project,
  path: "/logs",
  component: lazyRouteComponent(() => import("@/views/logs"), "Logs"),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  component: lazyRouteComponent(() => import("@/views/audit"), "Audit"),
});
const usage = createRoute({
  getParentRoute: () => project,
  path: "/usage",
  component: lazyRouteComponent(() => import("@/views/usage"), "Usage"),
});

const views = project.addChildren([
  projectHome,
  board,
  list,
  graph,
  timeline,
  team,
  review,
  chat,
  sessions,
  state,
  logs,
  audit,
  usage,
]);

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren([everywhere, task, settings, views])]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
