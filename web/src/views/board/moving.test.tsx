import { act, cleanup, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Move, TaskStatus } from "@/api/model";
import { card, fullTask, refusal, serve } from "@/testkit";
import { ToastProvider } from "@/ui";
import { useMoving } from "@/views/board/moving";

const first = card({ task_id: "t1", title: "Pay with a card", assignee_id: "ada", priority: "high" });
const move = (status: TaskStatus, allowed: boolean, reason: string | null = null): Move => ({
  status,
  allowed,
  reason,
  code: null,
  instruction: reason === null ? null : "Do something else.",
  needs_reason: false,
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("a card that is carried", () => {
  function carry(more: Parameters<typeof serve>[0]) {
    const asked = serve(more);
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    client.setQueryData(["board", "shop"], { tasks: [first], last_event: 1 });
    const wrapper = ({ children }: { children: ReactNode }) => (
      <QueryClientProvider client={client}>
        <ToastProvider>{children}</ToastProvider>
      </QueryClientProvider>
    );
    const { result } = renderHook(() => useMoving("shop"), { wrapper });
    return { asked, moving: result };
  }
  const posts = (asked: ReturnType<typeof serve>) =>
    asked.filter((each) => each.method === "POST").map((each) => each.body);

  it("is not put where the server has said no: nothing is tried, its reason is said", async () => {
    const { asked, moving } = carry({
      "GET /tasks/t1/moves": { moves: [move("completed", false, "It was not begun.")] },
    });
    act(() => moving.current.pick(first));
    await waitFor(() => expect(moving.current.carried?.moves).toHaveLength(1));
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
    await waitFor(() => expect(moving.current.carried?.moves).toHaveLength(1));
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
