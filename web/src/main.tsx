// Where the page begins: the theme and language of last time, then the app.
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import i18next from "i18next";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { readBoardsWhole } from "@/api/boards";
import { me, projects, queryClient } from "@/api/queries";
import { router } from "@/app/router";
import { applyTheme } from "@/app/theme";
import "@/i18n";
import "@/theme.css";
import { ToastProvider } from "@/ui/toast";

// Asked for before anything is drawn: every view needs them, and the router asks for what its own view reads.
if (!window.location.pathname.startsWith("/sign-in")) {
  void queryClient.prefetchQuery(me);
  void queryClient.prefetchQuery(projects);
}
applyTheme();
// the server's sentences come in the language in which they were asked for
i18next.on("languageChanged", () => {
  readBoardsWhole(queryClient);
  void queryClient.invalidateQueries();
});
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
