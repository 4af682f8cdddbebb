import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import type { Move, TaskStatus } from "@/api/model";
import { card, choose, fullTask, press, refusal, serve, show } from "@/testkit";
import { loadAll } from "@/ui";
import { Board } from "@/views/board";

const tasks = [
  card({ task_id: "t1", title: "Pay with a card", assignee_id: "ada", priority: "high" }),
  card({ task_id: "t2", title: "Write to customers", status: "in_progress" }),
  card({ task_id: "t3", title: "Test it", status: "blocked", blocked_reason: "No key." }),
];
const answers = {
  "GET /projects": { projects: [{ project_id: "shop", name: "Storefront", status: "active" }] },
  "GET /agents": { agents: [{ agent_id: "ada", name: "Ada" }] },
  "GET /projects/shop/board": { tasks, last_event: 1 },
  "GET /me": { person_id: "owner", name: "Owner", login: "owner", version: "1" },
};
const move = (status: TaskStatus, allowed: boolean, reason: string | null = null): Move => ({
  status,
  allowed,
  reason,
  code: null,
  instruction: reason === null ? null : "Do something else.",
  needs_reason: false,
});

beforeAll(loadAll);
beforeEach(() => {
  localStorage.clear();
  // jsdom lays nothing out: the virtual columns need a height to draw cards in.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(80);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(300);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const open = (search = "") => show(<Board />, `/p/shop/board${search}`, "/p/$projectId/board");
const column = (status: string) =>
  within(document.querySelector<HTMLElement>(`[data-column="${status}"]`) as HTMLElement);

describe("the board", () => {
  it("has every card in the column of its status, with why it is blocked", async () => {
    serve(answers);
    await open();
    await screen.findByText("Pay with a card");
    expect(column("todo").getByText("Pay with a card")).toBeTruthy();
    expect(column("in_progress").getByText("Write to customers")).toBeTruthy();
    expect(column("blocked").getByText("No key.")).toBeTruthy();
  });

  it("shows what the address asks for, and writes there what one asks for", async () => {
    serve(answers);
    const { href } = await open("?q=assignee%3Aada");
    await screen.findByText("Pay with a card");
    expect(screen.queryByText("Write to customers")).toBeNull();
    const user = userEvent.setup();
    await user.click(screen.getByRole("button", { name: "Clear filter" }));
    await screen.findByText("Write to customers");
    await user.type(screen.getByRole("searchbox"), "customers");
    await waitFor(() => expect(screen.queryByText("Pay with a card")).toBeNull());
    expect(href()).toBe("/p/shop/board?q=customers");
  });

  it("shows a chip for what it is narrowed by, which narrows it otherwise or lets go", async () => {
    serve(answers);
    const { href } = await open("?q=priority%3Ahigh");
    await screen.findByText("Pay with a card");
    expect(screen.queryByText("Test it")).toBeNull();
    await choose("Priority: High", "Medium");
    await screen.findByText("Test it");
    expect(href()).toBe("/p/shop/board?q=priority%3Ahigh%2Cmedium");
    await press("Remove filter: Priority");
    await waitFor(() => expect(href()).toBe("/p/shop/board"));
  });

  it("offers by f all that it can be narrowed by", async () => {
    serve(answers);
    await open();
    await screen.findByText("Pay with a card");
    fireEvent.keyDown(document.body, { key: "f" });
    const names = (await screen.findAllByRole("menuitem")).map((each) => each.textContent);
    expect(names).toEqual(["Status", "Assignee", "Priority"]);
  });

  it("is walked by keys: down and sideways, and Enter opens the card", async () => {
    serve(answers);
    const { href } = await open();
    await screen.findByText("Pay with a card");
    const user = userEvent.setup();
    await user.keyboard("jl");
    await waitFor(() => expect(document.activeElement?.getAttribute("data-card")).toBe("t2"));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(href()).toBe("/p/shop/board?task=t2"));
  });

  it("asks why before a task is cancelled by ⌫", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", status: "cancelled", version: 2 }) },
      "GET /tasks/t1/moves": { moves: [] },
    });
    await open();
    await screen.findByText("Pay with a card");
    const user = userEvent.setup();
    await user.keyboard("j{Backspace}");
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Reason"), "Not wanted");
    await user.click(dialog.getByRole("button", { name: "Move" }));
    await screen.findByText("Pay with a card: Cancelled");
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ status: "cancelled", reason: "Not wanted" });
  });

  it("needs no reason for what an owner does, though the server says so only once it is asked for", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", status: "cancelled", version: 2 }) },
      "GET /tasks/t1/moves": { moves: [move("cancelled", true)] },
    });
    await open();
    await screen.findByText("Pay with a card");
    const user = userEvent.setup();
    await user.keyboard("j{Backspace}");
    const dialog = within(await screen.findByRole("dialog"));
    await dialog.findByLabelText("Reason (sent to the agent that works on it)");
    await user.click(dialog.getByRole("button", { name: "Move" }));
    await screen.findByText("Pay with a card: Cancelled");
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ status: "cancelled" });
  });

  it.each(["agent", "parent"])("has its lanes by %s at once where its tasks are known already", async (by) => {
    serve(answers);
    const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
    client.setQueryData(["board", "shop"], { tasks, last_event: 1 });
    client.setQueryData(["agents"], answers["GET /agents"].agents);
    client.setQueryData(["projects"], answers["GET /projects"].projects);
    await show(<Board />, `/p/shop/board?by=${by}`, "/p/$projectId/board", "owner", client);
    expect(screen.getByText("Pay with a card")).toBeTruthy();
    expect(screen.getByText("Test it")).toBeTruthy();
  });

  it("folds empty columns to a rail with name and count, that opens", async () => {
    serve(answers);
    await open();
    await screen.findByText("Pay with a card");
    const [user, failed] = [userEvent.setup(), () => screen.getByRole("button", { name: /column: Failed/ })];
    expect(failed().getAttribute("aria-expanded")).toBe("false");
    expect(column("failed").getByText("0")).toBeTruthy();
    await user.click(failed());
    expect(failed().getAttribute("aria-expanded")).toBe("true");
  });

  it("tells how long a task has been worked on, how its checks ended, and how far its work has come", async () => {
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const worked = [
      card({ task_id: "t1", status: "in_progress", started_at: at(4) }),
      card({ task_id: "t2", status: "completed", started_at: at(9), completed_at: at(2), checks: "passed" }),
      card({ task_id: "t3", status: "completed", checks: "passed", in_review: true }),
      card({ task_id: "t4", status: "completed", merged: true }),
    ];
    serve({ ...answers, "GET /projects/shop/board": { tasks: worked, last_event: 1 } });
    await open();
    await screen.findByText("t1");
    expect(column("in_progress").getByText("4 min")).toBeTruthy();
    expect(column("completed").getByText("7 min")).toBeTruthy();
    for (const sign of ["Acceptance checks passed", "In review", "Merged"])
      expect(column("completed").getByText(sign)).toBeTruthy();
  });

  it("says how many of a column are not shown, and shows the next ones", async () => {
    const next = card({ task_id: "t9", title: "Send it" });
    const columns = (more: string | null) => [{ status: "todo" as const, count: 2, more }];
    serve({
      ...answers,
      "GET /projects/shop/board": ({ query }) =>
        query.includes("more=page-2")
          ? { tasks: [next], whole: false, columns: columns(null), older: null, last_event: 1 }
          : { tasks, whole: true, columns: columns("page-2"), older: null, last_event: 1 },
    });
    await open();
    await screen.findByText("Pay with a card");
    expect(screen.getByText("1 of 2")).toBeTruthy();
    await userEvent.setup().click(column("todo").getByRole("button", { name: "Show more (1 not shown)" }));
    await screen.findByText("Send it");
    expect(screen.queryByText("1 of 2")).toBeNull();
    expect(screen.queryByRole("button", { name: /not shown/ })).toBeNull();
  });

  it("teaches what to do where there is no task", async () => {
    serve({ ...answers, "GET /projects/shop/board": { tasks: [], last_event: 0 } });
    await open();
    expect(await screen.findByText("No tasks yet")).toBeTruthy();
  });
});

describe("marked cards", () => {
  const posts = (asked: ReturnType<typeof serve>) =>
    asked.filter((each) => each.method !== "GET").map((each) => [each.method, each.path, each.body]);
  const bar = () => screen.findByRole("toolbar");

  it("are marked by x and by shift-click, and Escape clears the marks", async () => {
    serve(answers);
    const { href } = await open();
    const user = userEvent.setup();
    await screen.findByText("Pay with a card");
    await user.keyboard("jx");
    expect((await bar()).getAttribute("aria-label")).toBe("1 selected");
    fireEvent.click(screen.getByText("Test it"), { shiftKey: true });
    expect((await bar()).getAttribute("aria-label")).toBe("3 selected");
    expect(screen.getAllByText("Selected")).toHaveLength(3);
    expect(href()).not.toContain("task=");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("toolbar")).toBeNull();
  });

  it("are changed together, refusals are told by reason, and Undo takes the rest back", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/move": ({ body }) => ({ task: fullTask({ task_id: "t1", version: 2, ...(body as object) }) }),
      "POST /tasks/t2/move": refusal(409, "invalidTransition", "Task t2 is at work.", "Wait for it."),
      "POST /tasks/t3/move": refusal(409, "invalidTransition", "Task t3 is at work.", "Wait for it."),
      "GET /tasks/t1/moves": { moves: [move("todo", true)], may_judge: true },
    });
    await open();
    await screen.findByText("Pay with a card");
    fireEvent.click(screen.getByText("Pay with a card"), { shiftKey: true });
    fireEvent.click(screen.getByText("Test it"), { shiftKey: true });
    await choose("Move", "Backlog");
    const dialog = within(await screen.findByRole("dialog", { name: "2 not updated" }));
    expect(dialog.getByText("Task … is at work.")).toBeTruthy();
    expect(dialog.getByText("Test it")).toBeTruthy();
    await userEvent.setup().click(dialog.getByRole("button", { name: "Close" }));
    await press("Undo");
    await screen.findByText("Undone: 1 task");
    expect(posts(asked).filter(([, path]) => path === "/tasks/t1/move")).toEqual([
      ["POST", "/tasks/t1/move", { status: "backlog" }],
      ["POST", "/tasks/t1/move", { status: "todo" }],
    ]);
  });

  it("get their own assignees and priorities back", async () => {
    const edited = ({ path, body }: { path: string; body: unknown }) => ({
      task: fullTask({ task_id: path.slice(7), version: 2, ...(body as object) }),
    });
    const asked = serve({ ...answers, "PATCH /tasks/t1": edited, "PATCH /tasks/t2": edited });
    await open();
    await screen.findByText("Pay with a card");
    fireEvent.click(screen.getByText("Pay with a card"), { shiftKey: true });
    fireEvent.click(screen.getByText("Write to customers"), { shiftKey: true });
    await choose("Priority", "Critical");
    await press("Undo");
    await screen.findByText("Undone: 2 tasks");
    expect(posts(asked).map(([, path, body]) => [path, body])).toEqual([
      ["/tasks/t1", { priority: "critical" }],
      ["/tasks/t2", { priority: "critical" }],
      ["/tasks/t1", { priority: "high" }],
      ["/tasks/t2", { priority: "medium" }],
    ]);
  });

  it("offer no undo where there is no way back", async () => {
    serve({
      ...answers,
      "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", status: "completed", version: 2 }) },
      "GET /tasks/t1/moves": { moves: [], may_judge: true },
    });
    await open();
    await screen.findByText("Pay with a card");
    fireEvent.click(screen.getByText("Pay with a card"), { shiftKey: true });
    await choose("Move", "Completed");
    await screen.findByText("1 task updated");
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
  });

  it("are not there for who only reads", async () => {
    serve(answers);
    await show(<Board />, "/p/shop/board", "/p/$projectId/board", "viewer");
    await screen.findByText("Pay with a card");
    await userEvent.setup().keyboard("jx");
    expect(screen.queryByRole("toolbar")).toBeNull();
  });
});
