// Every address of the page, and which view it shows. A view is loaded when it is first looked at.
import { Outlet, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";

import { agents, board as cards, overview, queryClient } from "@/api/queries";
import { validateSearch } from "@/app/address";
import { NotFound } from "@/app/notfound";
import { Shell } from "@/app/shell";
import { withWords } from "@/i18n";

// What a view reads first is asked for while its script still comes, not after. Nothing waits here: the view itself does.
const glance = (projectId: string | null) => {
  void queryClient.prefetchQuery(overview(projectId));
  void queryClient.prefetchQuery(agents);
};
const allTasks = ({ params }: { params: { projectId: string } }) => {
  void queryClient.prefetchQuery(cards(params.projectId));
  void queryClient.prefetchQuery(agents);
};

/** Its script comes together with its words: those of the view, and of what it shows of others. */
function view<Part extends Record<Name, ComponentType>, Name extends string>(
  words: string,
  script: () => Promise<Part>,
  name: Name,
) {
  return lazyRouteComponent(() => withWords(words, script()), name);
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: view("signin", () => import("@/views/signin"), "SignIn"),
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell, validateSearch });
const everywhere = createRoute({
  getParentRoute: () => shell,
  path: "/",
  loader: () => glance(null),
  component: view("home", () => import("@/views/home"), "Home"),
});
const task = createRoute({
  getParentRoute: () => shell,
  path: "/t/$taskId",
  component: view("task audit home", () => import("@/views/task"), "TaskPage"),
});
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: view("settings home", () => import("@/views/settings"), "Settings"),
});
const project = createRoute({ getParentRoute: () => shell, path: "/p/$projectId", component: Outlet });
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  loader: ({ params }) => glance(params.projectId),
  component: view("home", () => import("@/views/home"), "Home"),
});
const board = createRoute({
  getParentRoute: () => project,
  path: "/board",
  loader: allTasks,
  component: view("board", () => import("@/views/board"), "Board"),
});
const list = createRoute({
  getParentRoute: () => project,
  path: "/list",
  loader: allTasks,
  component: view("list", () => import("@/views/list"), "List"),
});
const graph = createRoute({
  getParentRoute: () => project,
  path: "/graph",
  component: view("graph", () => import("@/views/graph"), "Graph"),
});
const timeline = createRoute({
  getParentRoute: () => project,
  path: "/timeline",
  component: view("timeline audit", () => import("@/views/timeline"), "Timeline"),
});
const team = createRoute({
  getParentRoute: () => project,
  path: "/team",
  component: view("team", () => import("@/views/team"), "Team"),
});
const review = createRoute({
  getParentRoute: () => project,
  path: "/review/$taskId",
  component: view("review", () => import("@/views/review"), "Review"),
});
const reviews = createRoute({
  getParentRoute: () => project,
  path: "/review",
  component: view("review", () => import("@/views/review"), "Reviews"),
});
const together = createRoute({
  getParentRoute: () => project,
  path: "/review/together",
  component: view("review", () => import("@/views/review"), "Together"),
});
const chat = createRoute({
  getParentRoute: () => project,
  path: "/chat",
  component: view("chat home", () => import("@/views/chat"), "Chat"),
});
const sessions = createRoute({
  getParentRoute: () => project,
  path: "/sessions",
  component: view("sessions audit", () => import("@/views/sessions"), "Sessions"),
});
const state = createRoute({
  getParentRoute: () => project,
  path: "/state",
  component: view("state", () => import("@/views/state"), "SharedState"),
});
const logs = createRoute({
  getParentRoute: () => project,
  path: "/logs",
  component: view("logs", () => import("@/views/logs"), "Logs"),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  component: view("audit", () => import("@/views/audit"), "Audit"),
});
const usage = createRoute({
  getParentRoute: () => project,
  path: "/usage",
  component: view("usage", () => import("@/views/usage"), "Usage"),
});

const views = project.addChildren([
  projectHome,
  board,
  list,
  graph,
  timeline,
  team,
  review,
  reviews,
  together,
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
