// Where the page begins: the theme and language of last time, then the app. Until all that the first view needs is here,
// index.html shows the frame.
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { readBoardsWhole } from "@/api/boards";
import { me, projects, queryClient, titleKnown } from "@/api/queries";
import { Page, ROUTES } from "@/app/router";
import { open } from "@/app/routing";
import { applyTheme } from "@/app/theme";
import { load, onLanguage } from "@/i18n";
import "@/theme.css";
import { Titles } from "@/ui/mentions";
import { ToastProvider } from "@/ui/toast";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
const inside = !window.location.pathname.startsWith("/sign-in");
applyTheme();
// the server's sentences come in the language in which they were asked for
onLanguage(() => {
  readBoardsWhole(queryClient);
  void queryClient.invalidateQueries();
});
// Asked for before anything is drawn: every view needs them, and the way to a view asks for what that reads.
if (inside) void queryClient.prefetchQuery(projects);
void Promise.allSettled([load(), open(ROUTES), inside && queryClient.prefetchQuery(me)]).then(() =>
  // What React could draw at its second try is a fault, too: its cause is told, not that it had one.
  createRoot(root, {
    onRecoverableError: (error) => reportError(error instanceof Error ? (error.cause ?? error) : error),
  }).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Titles value={titleKnown}>
          <ToastProvider>
            <Page />
          </ToastProvider>
        </Titles>
      </QueryClientProvider>
    </StrictMode>,
  ),
);
