import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { PastProvider } from "@/app/past";
import { card, press, serve, show } from "@/testkit";
import { loadAll } from "@/ui";
import { Board } from "@/views/board";

const time = (minute: number) => `2026-01-01T10:0${minute}:00.000Z`;
const event = (sequence: number, kind: string, data: object) => ({
  ...{ sequence, kind, data, at: time(sequence), task_id: "t1", project_id: "shop", event_id: `evt_${sequence}` },
  ...{ actor_id: "ada", by_person: false, agent_id: "ada", session_id: null, launch_id: null, correlation_id: null },
});
const EVENTS = [
  event(1, "task.created", { title: "Saw", status: "todo" }),
  event(2, "task.started", { from: "todo", to: "in_progress" }),
  event(3, "task.completed", { from: "in_progress", to: "completed" }),
];
const task = card({ task_id: "t1", title: "Saw", status: "completed", created_at: time(1), completed_at: time(3) });

beforeAll(loadAll);
beforeEach(() => {
  localStorage.clear();
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
  serve({
    "GET /projects": { projects: [{ project_id: "shop", name: "Storefront", status: "active" }] },
    "GET /agents": { agents: [{ agent_id: "ada", name: "Ada" }] },
    "GET /projects/shop/board": { tasks: [task], last_event: 3 },
    "GET /events": { events: EVENTS.toReversed(), last: 1 },
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const open = async (search: string) => {
  const board = (
    <PastProvider>
      <Board />
    </PastProvider>
  );
  const page = await show(board, `/p/shop/board${search}`, "/p/$projectId/board");
  await screen.findByRole("region", { name: "Past" });
  return page;
};
/** As long as a busy machine may take. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });
const held = (status: string) =>
  soon(() => {
    const column = document.querySelector<HTMLElement>(`[data-column="${status}"]`);
    expect(within(column as HTMLElement).getByText("Saw")).toBeTruthy();
  });

const told = () => within(screen.getByRole("region", { name: "Past" })).getByRole("status").textContent;

describe("the board in the past", () => {
  it("is as it was at the instant in the address, and the arrow keys take one change back and forth", async () => {
    const { href } = await open(`?at=${time(2)}`);
    await held("in_progress");
    await soon(() => expect(told()).toBe("Ada started “Saw”"));
    fireEvent.keyDown(document.body, { key: "ArrowLeft" });
    await held("todo");
    expect(decodeURIComponent(href())).toContain(time(1));
    fireEvent.keyDown(document.body, { key: "ArrowRight" });
    fireEvent.keyDown(document.body, { key: "ArrowRight" });
    await held("completed");
  });

  it("offers nothing that changes anything, and says so", async () => {
    await open(`?at=${time(2)}`);
    await held("in_progress");
    expect(screen.getByText("Read-only while you look at the past")).toBeTruthy();
    expect(screen.queryByRole("checkbox")).toBeNull();
    fireEvent.keyDown(document.body, { key: "x" });
    expect(screen.queryByText(/selected/)).toBeNull();
  });

  it("is empty before the first change", async () => {
    await open(`?at=${time(0)}`);
    await soon(() => expect(told()).toBe("Before the first recorded change"));
    expect(screen.queryByRole("button", { name: /New task/ })).toBeNull();
  });

  it("plays from the beginning to now, and keeps the last instant in the address", async () => {
    const { href } = await open(`?at=${time(3)}`);
    await held("completed");
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await press("Play");
    expect(told()).toBe("Before the first recorded change");
    await vi.advanceTimersByTimeAsync(20_000);
    await soon(() => expect(told()).toBe("Ada completed “Saw”"));
    expect(href()).toContain(time(3));
  });
});
