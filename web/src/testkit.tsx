// For tests of components: the page around them, with a server that answers what the test says.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { Suspense, type ReactNode } from "react";
import { vi } from "vitest";

import type { BoardTask, Me, Task } from "@/api/model";
import { me } from "@/api/queries";
import { Shown, open } from "@/app/routing";
import { DraftsOf } from "@/drafts";
import { ToastProvider } from "@/ui";

export interface Asked {
  method: string;
  path: string;
  /** With its question mark; empty without one. */
  query: string;
  body: unknown;
  version: string | null;
}

type Answer = object | ((asked: Asked) => object | Promise<object>);

/** Answers by `METHOD /path` (without the query); everything else is 404. What was asked is kept. */
export function serve(answers: Record<string, Answer>): Asked[] {
  const all: Asked[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search: query } = new URL(request.url);
    const path = pathname.replace("/api/v1", "");
    const said = await request.text();
    const body: unknown = said === "" ? undefined : JSON.parse(said);
    const asked = { method: request.method, path, query, body, version: request.headers.get("If-Match") };
    all.push(asked);
    const answer = answers[`${asked.method} ${path}`];
    if (answer === undefined) return refusal(404, "notFound", `nothing at ${path}`);
    const told = typeof answer === "function" ? await (answer as (asked: Asked) => object)(asked) : answer;
    return told instanceof Response ? told.clone() : Response.json(told);
  });
  return all;
}

export function refusal(status: number, code: string, detail: string, instruction = ""): Response {
  return Response.json({ status, code, title: code, detail, instruction }, { status });
}

/**
 * Renders something at an address, with the frame's providers, for a user with the role `login`; `href` returns the
 * current address, `client` knows what was read before.
 */
export async function show(
  what: ReactNode,
  at = "/",
  path = "/",
  login: Me["login"] = "owner",
  client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } }),
) {
  window.history.replaceState(null, "", at);
  await open([
    { path, view: () => Promise.resolve(() => what) },
    { path: "*", view: () => Promise.resolve(() => <p>elsewhere</p>) },
  ]);
  client.setQueryData(me.queryKey, {
    person_id: "olga",
    name: "Olga",
    login,
    version: "1",
    signed_in_by: null,
    last_event: 0,
  });
  const page = render(
    <QueryClientProvider client={client}>
      <ToastProvider>
        <DraftsOf person="olga">
          <Suspense>
            <Shown />
          </Suspense>
        </DraftsOf>
      </ToastProvider>
    </QueryClientProvider>,
  );
  return { ...page, client, href: () => window.location.pathname + window.location.search + window.location.hash };
}

/** Writes into a field at once: keystroke by keystroke costs time and shows nothing more. */
export function write(label: string | RegExp, words: string, place: HTMLElement = document.body): void {
  fireEvent.change(within(place).getByLabelText(label), { target: { value: words } });
}

/** Presses the button (or item of a menu) of this name as soon as it is there. */
export async function press(name: string | RegExp, place: HTMLElement = document.body): Promise<void> {
  fireEvent.click(await within(place).findByRole("button", { name }));
}

/** Opens a menu and chooses from it: Radix hears the pointer, not the click. */
export async function choose(menu: string | RegExp, item: string | RegExp): Promise<void> {
  fireEvent.keyDown(await screen.findByRole("button", { name: menu }), { key: "Enter" });
  fireEvent.click(await screen.findByRole("menuitem", { name: item }));
}

export function card(given: Partial<BoardTask> & { task_id: string }): BoardTask {
  const at = "2026-01-01T00:00:00Z";
  return {
    title: given.task_id,
    status: "todo",
    priority: "medium",
    assignee_id: null,
    agent_type: null,
    parent_task_id: null,
    root_task_id: given.task_id,
    dependencies: [],
    waits_for: 0,
    approval: "approved",
    blocked_reason: null,
    checks: "none",
    attempt: 1,
    children: 0,
    children_done: 0,
    running: false,
    created_at: at,
    line_at: given.line_at ?? given.created_at ?? at,
    line_rank: 0,
    updated_at: at,
    started_at: null,
    completed_at: null,
    version: 1,
    changes_requested: null,
    in_review: false,
    merged: false,
    cost_usd: null,
    insertions: null,
    deletions: null,
    ...given,
  };
}

export function fullTask(given: Partial<Task> & { task_id: string }): Task {
  const at = "2026-01-01T00:00:00Z";
  return {
    id: given.task_id,
    title: given.task_id,
    status: "todo",
    priority: "medium",
    assignee_id: null,
    agent_type: null,
    parent_task_id: null,
    dependencies: [],
    approval: "approved",
    blocked_reason: null,
    attempt: 1,
    created_at: at,
    updated_at: at,
    started_at: null,
    completed_at: null,
    version: 1,
    project_id: "shop",
    description: "",
    approved_by: null,
    blocked_by: null,
    blocked_cause: null,
    result: null,
    summary: null,
    error: null,
    next_steps: null,
    artifacts: [],
    context: null,
    acceptance: [],
    touches: [],
    budget_usd: null,
    not_before: null,
    start: null,
    line: null,
    budget_tokens: null,
    may_conflict_with: [],
    unmerged: [],
    checks: "none",
    check_failures: [],
    required_checks: [],
    check_results: [],
    created_by: "owner",
    requested_by: null,
    correlation_id: null,
    subtasks: [],
    handoffs: [],
    dependency_failed: false,
    changes_requested: null,
    in_review: false,
    merged: false,
    reviews: [],
    review_of: null,
    pull_request: null,
    judged: null,
    ...given,
  };
}

/** What a need or a condition suggests, as the server says it. */
export const deed = (
  name: string,
  label: string,
  operation: string,
  given: Record<string, unknown>,
  command: string,
) => ({
  name,
  label,
  operation,
  arguments: given,
  command,
});
