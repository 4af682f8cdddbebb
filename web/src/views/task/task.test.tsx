import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, ada, mika } from "@/example";
import { fullTask, serve, show } from "@/testkit";
import { TaskSheet } from "@/views/task";

const task = fullTask({ task_id: "t1", title: "Pay with a card", priority: "high" });
const move = (status: string, allowed: boolean, reason: string | null = null) => ({
  ...{ status, allowed, reason, code: null, instruction: null, needs_reason: false },
});
const answers = {
  ...ANSWERS,
  "GET /tasks/t1": { task },
  "GET /tasks/t1/moves": {
    moves: [move("in_progress", true), move("completed", false, "Not begun.")],
    may_judge: true,
  },
  "GET /projects/shop/members": { agents: [ada, mika] },
};
const wide = (matches: boolean) =>
  vi.stubGlobal("matchMedia", () => ({ matches, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
const panel = () => screen.getByRole("dialog", { name: "Task" });

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open() {
  const page = await show(<TaskSheet taskId="t1" />, "/p/shop/board?task=t1", "/p/$projectId/board");
  await screen.findByRole("heading", { name: "Pay with a card" });
  return page;
}

describe("an open task", () => {
  it("stands beside the view where there is room: nothing is hidden behind it, Escape closes it", async () => {
    wide(true);
    serve(answers);
    const { href, container } = await open();
    expect(panel().getAttribute("aria-modal")).toBe("false");
    expect(container.contains(panel())).toBe(true);
    fireEvent.keyDown(document.body, { key: "Escape" });
    await waitFor(() => expect(href()).toBe("/p/shop/board"));
  });

  it("lies over the view where there is none", async () => {
    wide(false);
    serve(answers);
    const { container } = await open();
    expect(container.contains(panel())).toBe(false);
  });

  it("names the tasks in which agents review its work, and leads to them", async () => {
    wide(true);
    const review = { task_id: "t2", title: "Review: Pay with a card", status: "in_progress", assignee_id: "ada" };
    serve({ ...answers, "GET /tasks/t1": { task: { ...task, reviews: [review] } } });
    const { href } = await open();
    expect(screen.getByRole("heading", { name: "Reviews of this work" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /Review: Pay with a card/ }));
    await waitFor(() => expect(href()).toContain("t2"));
  });

  it("names the task whose work is reviewed in it", async () => {
    wide(true);
    const reviewed = { task_id: "t3", title: "Add the tax", status: "in_progress", assignee_id: "ada" };
    serve({ ...answers, "GET /tasks/t1": { task: { ...task, review_of: reviewed } } });
    await open();
    expect(screen.getByRole("heading", { name: "Reviews the work of" }).closest("section")?.textContent).toContain(
      "Add the tax",
    );
  });

  it("is as wide as one has drawn it, also the next time", async () => {
    wide(true);
    serve(answers);
    await open();
    const edge = screen.getByRole("separator", { name: "Width of the panel" });
    const before = Number(edge.getAttribute("aria-valuenow"));
    fireEvent.keyDown(edge, { key: "ArrowLeft" });
    const after = Number(screen.getByRole("separator").getAttribute("aria-valuenow"));
    expect(after).toBeGreaterThan(before);
    cleanup();
    await open();
    expect(Number(screen.getByRole("separator").getAttribute("aria-valuenow"))).toBe(after);
  });

  it.each([true, false])("has its facts as pickers that s, a and p open (beside: %s)", async (beside) => {
    wide(beside);
    const asked = serve({ ...answers, "PATCH /tasks/t1": { task: { ...task, assignee_id: "ada" } } });
    await open();
    const items = () => screen.findAllByRole("menuitem").then((all) => all.map((each) => each.textContent));
    const press = (key: string) => fireEvent.keyDown(document.body, { key });
    await waitFor(() => expect(screen.getByRole("button", { name: "Start" })).toBeTruthy());
    press("s");
    expect(await items()).toEqual(["Start", "Complete"]);
    expect(screen.getByText("Not begun.")).toBeTruthy();
    fireEvent.keyDown(screen.getByRole("menu"), { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
    press("p");
    expect(await items()).toEqual(["Critical", "High", "Medium", "Low"]);
    fireEvent.keyDown(screen.getByRole("menu"), { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
    press("a");
    fireEvent.click(await screen.findByRole("menuitem", { name: /Ada/ }));
    await waitFor(() => expect(asked.find((each) => each.method === "PATCH")?.body).toEqual({ assignee_id: "ada" }));
  });

  it("shows no id: it is copied from its menu", async () => {
    wide(true);
    serve(answers);
    await open();
    expect(panel().textContent).not.toMatch(/\bt1\b/);
    fireEvent.keyDown(screen.getByRole("button", { name: "More actions" }), { key: "Enter" });
    expect(await screen.findByRole("menuitem", { name: "Copy ID" })).toBeTruthy();
  });
});
