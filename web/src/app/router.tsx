// Every address of the page, and which view it shows. A view is loaded when it is first looked at.
import { Suspense, type ComponentType } from "react";

import { agents, board as cards, overview, queryClient } from "@/api/queries";
import { NotFound } from "@/app/notfound";
import { Shown, useRoute, type Route } from "@/app/routing";
import { Shell } from "@/app/shell";
import { withWords } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";
import { Boundary, Empty } from "@/ui";

const glance: Route["reads"] = ({ projectId = null }) => {
  void queryClient.prefetchQuery(overview(projectId));
  void queryClient.prefetchQuery(agents);
};
const allTasks: Route["reads"] = ({ projectId = "" }) => {
  void queryClient.prefetchQuery(cards(projectId));
  void queryClient.prefetchQuery(agents);
};

/** Its script comes together with its words: those of the view, and of what it shows of others. */
const view =
  <Name extends string>(words: string, script: () => Promise<Record<Name, ComponentType>>, name: Name): Route["view"] =>
  () =>
    withWords(words, script()).then((part) => part[name]);

const home = view("home", () => import("@/views/home"), "Home");

export const ROUTES: readonly Route[] = [
  { path: "/sign-in", view: view("signin", () => import("@/views/signin"), "SignIn"), bare: true },
  { path: "/", view: home, reads: glance },
  { path: "/t/$taskId", view: view("task audit home", () => import("@/views/task"), "TaskPage") },
  { path: "/settings", view: view("settings home", () => import("@/views/settings"), "Settings") },
  { path: "/p/$projectId", view: home, reads: glance },
  { path: "/p/$projectId/board", view: view("board", () => import("@/views/board"), "Board"), reads: allTasks },
  { path: "/p/$projectId/list", view: view("list", () => import("@/views/list"), "List"), reads: allTasks },
  { path: "/p/$projectId/graph", view: view("graph", () => import("@/views/graph"), "Graph") },
  { path: "/p/$projectId/timeline", view: view("timeline audit", () => import("@/views/timeline"), "Timeline") },
  { path: "/p/$projectId/team", view: view("team", () => import("@/views/team"), "Team") },
  { path: "/p/$projectId/review", view: view("review", () => import("@/views/review"), "Reviews") },
  { path: "/p/$projectId/review/$taskId", view: view("review", () => import("@/views/review"), "Review") },
  { path: "/p/$projectId/chat", view: view("chat home", () => import("@/views/chat"), "Chat") },
  { path: "/p/$projectId/sessions", view: view("sessions audit", () => import("@/views/sessions"), "Sessions") },
  { path: "/p/$projectId/state", view: view("state", () => import("@/views/state"), "SharedState") },
  { path: "/p/$projectId/logs", view: view("logs", () => import("@/views/logs"), "Logs") },
  { path: "/p/$projectId/audit", view: view("audit", () => import("@/views/audit"), "Audit") },
  { path: "/p/$projectId/usage", view: view("usage", () => import("@/views/usage"), "Usage") },
  { path: "*", view: () => Promise.resolve(NotFound), bare: true },
];

/** The view of this address, with the frame around it. */
export function Page() {
  const { t } = useTranslation();
  return (
    <Boundary fallback={<Empty title={t("error.crashed")} />}>
      <Suspense>
        {useRoute()?.bare === true ? (
          <Shown />
        ) : (
          <Shell>
            <Shown />
          </Shell>
        )}
      </Suspense>
    </Boundary>
  );
}
