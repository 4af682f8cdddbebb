import { act, cleanup, renderHook, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Move, TaskStatus } from "@/api/model";
import { card, fullTask, refusal, serve, show } from "@/testkit";
import { ToastProvider } from "@/ui";
import { Board } from "@/views/board";
import { useMoving } from "@/views/board/moving";

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

beforeEach(() => {
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
    await vi.waitFor(() => expect(screen.queryByText("Pay with a card")).toBeNull());
    expect(href()).toBe("/p/shop/board?q=customers");
  });

  it("is walked by keys: down and sideways, and Enter opens the card", async () => {
    serve(answers);
    const { href } = await open();
    await screen.findByText("Pay with a card");
    const user = userEvent.setup();
    await user.keyboard("jl");
    await vi.waitFor(() => expect(document.activeElement?.getAttribute("data-card")).toBe("t2"));
    await user.keyboard("{Enter}");
    await vi.waitFor(() => expect(href()).toBe("/p/shop/board?task=t2"));
  });

  it("asks why before a task is cancelled by `x`", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", status: "cancelled", version: 2 }) },
      "GET /tasks/t1/moves": { moves: [] },
    });
    await open();
    await screen.findByText("Pay with a card");
    const user = userEvent.setup();
    await user.keyboard("jx");
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Reason"), "Not wanted");
    await user.click(dialog.getByRole("button", { name: "Move" }));
    await screen.findByText("Pay with a card: Cancelled");
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ status: "cancelled", reason: "Not wanted" });
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

describe("a card that is carried", () => {
  function carry(more: Parameters<typeof serve>[0]) {
    const asked = serve({ ...answers, ...more });
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    client.setQueryData(["board", "shop"], { tasks, last_event: 1 });
    const wrapper = ({ children }: { children: ReactNode }) => (
      <QueryClientProvider client={client}>
        <ToastProvider>{children}</ToastProvider>
      </QueryClientProvider>
    );
    const { result } = renderHook(() => useMoving("shop"), { wrapper });
    return { asked, moving: result };
  }
  const [first] = tasks as [(typeof tasks)[0]];
  const posts = (asked: ReturnType<typeof serve>) =>
    asked.filter((each) => each.method === "POST").map((each) => each.body);

  it("is not put where the server has said no: nothing is tried, its reason is said", async () => {
    const { asked, moving } = carry({
      "GET /tasks/t1/moves": { moves: [move("completed", false, "It was not begun.")] },
    });
    act(() => moving.current.pick(first));
    await vi.waitFor(() => expect(moving.current.carried?.moves).toHaveLength(1));
    act(() => moving.current.drop("completed"));
    expect((await screen.findByRole("alert")).textContent).toContain("It was not begun.");
    expect(posts(asked)).toEqual([]);
    expect(moving.current.carried).toBeNull();
  });

  it("can be taken back, and then stands where it was", async () => {
    let status: TaskStatus = "todo";
    const { asked, moving } = carry({
      "GET /tasks/t1/moves": () => ({ moves: [move(status === "todo" ? "in_progress" : "todo", true)] }),
      "POST /tasks/t1/move": ({ body }) => {
        status = (body as { status: TaskStatus }).status;
        return { task: fullTask({ task_id: "t1", title: first.title, status, version: 2 }) };
      },
    });
    act(() => moving.current.pick(first));
    await vi.waitFor(() => expect(moving.current.carried?.moves).toHaveLength(1));
    act(() => moving.current.drop("in_progress"));
    await userEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await screen.findByText("Pay with a card: To do");
    expect(posts(asked)).toEqual([{ status: "in_progress" }, { status: "todo" }]);
  });

  it("offers no undo where the server allows no way back", async () => {
    const { moving } = carry({
      "GET /tasks/t1/moves": { moves: [move("todo", false, "It is closed.")] },
      "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", title: first.title, status: "completed" }) },
    });
    act(() => moving.current.put(first, "completed"));
    await screen.findByText("Pay with a card: Completed");
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
  });

  it("says the server's reason where it is refused only then", async () => {
    const { moving } = carry({
      "POST /tasks/t1/move": refusal(409, "limitReached", "Ada has 1 main task in progress.", "Wait for it."),
    });
    act(() => moving.current.put(first, "in_progress"));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Ada has 1 main task in progress.");
    expect(alert.textContent).toContain("Wait for it.");
  });

  it("stays where it is when it is dropped on its own column or outside", () => {
    const { asked, moving } = carry({});
    act(() => moving.current.pick(first));
    act(() => moving.current.drop("todo"));
    act(() => moving.current.pick(first));
    act(() => moving.current.drop(null));
    expect(posts(asked)).toEqual([]);
  });
});
