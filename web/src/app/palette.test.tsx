import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Me } from "@/api/model";
import { Palette } from "@/app/palette";
import { TASK_ACTS, offers } from "@/app/task-acts";
import { ANSWERS, ada, mika, shop } from "@/example";
import { en } from "@/i18n/en";
import { card, fullTask, serve, show } from "@/testkit";

const one = { title: "Pay with a card", status: "todo" as const };
const answers = {
  ...ANSWERS,
  "GET /projects": { projects: [shop] },
  "GET /agents": { agents: [ada, mika] },
  "GET /projects/shop/members": { agents: [ada, mika] },
  "GET /projects/shop/board": {
    tasks: [card({ task_id: "t1", ...one }), card({ task_id: "t2", title: "Write", status: "completed" })],
    last_event: 1,
  },
  "GET /tasks/t1": { task: fullTask({ task_id: "t1", ...one }) },
  "GET /tasks/t1/moves": {
    moves: [
      { status: "in_progress", allowed: true, code: null, reason: null, instruction: null, needs_reason: false },
      { status: "blocked", allowed: true, code: null, reason: null, instruction: null, needs_reason: true },
      { status: "completed", allowed: false, code: null, reason: "Not begun.", instruction: null, needs_reason: false },
    ],
    may_judge: true,
  },
  "GET /needs-you": { items: [] },
  "GET /sessions": {
    sessions: [{ session_id: "s1", agent_id: "ada", purpose: "task", task_id: "t1", ended_at: null }],
  },
  "GET /task-search": { tasks: [] },
};
const options = () => screen.queryAllByRole("option").map((each) => each.textContent);
const ask = (words: string) => fireEvent.change(screen.getByRole("combobox"), { target: { value: words } });
async function pick(words: string): Promise<void> {
  await waitFor(() => expect(options().join("\n")).toMatch(new RegExp(`^${words}`, "m")));
  const wanted = screen.getAllByRole("option").find((each) => each.textContent?.startsWith(words));
  fireEvent.click(wanted as HTMLElement);
}
async function open(at = "/p/shop/board", login: Me["login"] = "owner") {
  const page = await show(<Palette />, at, "/p/$projectId/board", login);
  await waitFor(() => expect(options()).toEqual(expect.arrayContaining([expect.stringMatching(/^Pay with a card/)])));
  return page;
}

beforeEach(() => {
  localStorage.clear();
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
  vi.unstubAllGlobals();
});

describe("the palette", () => {
  it("has every act that can be done with a task", async () => {
    serve(answers);
    await open();
    ask(">");
    for (const { name } of TASK_ACTS) expect(options()).toContain(en.act[name]);
  });

  it("offers a viewer only what changes nothing", async () => {
    serve(answers);
    await open("/p/shop/board", "viewer");
    ask(">");
    const acts: string[] = TASK_ACTS.filter((each) => each.reads !== true).map((each) => en.act[each.name]);
    expect(options().filter((each) => acts.includes(each ?? ""))).toEqual([]);
    expect(options()).not.toContain("New task");
    expect(options().join()).not.toMatch(/Pause project|New agent|Invite/);
  });

  it("offers the open task's acts first, and of the moves those that the server allows", async () => {
    serve(answers);
    await open("/p/shop/board?task=t1");
    const here = within(await screen.findByRole("group", { name: "Pay with a card" }));
    await waitFor(() => expect(here.getAllByRole("option").map((each) => each.textContent)).not.toContain("Complete"));
    const said = here.getAllByRole("option").map((each) => each.textContent);
    expect(said).toEqual(expect.arrayContaining(["Start", "Assign to…a", "Set priority…p", "Block", "Copy ID"]));
    expect(said).not.toContain("Retryr");
  });

  it("assigns a task in three choices, without leaving", async () => {
    const asked = serve({
      ...answers,
      "PATCH /tasks/t1": { task: fullTask({ task_id: "t1", assignee_id: "ada", ...one }) },
    });
    await open();
    ask("> assign");
    await pick("Assign to…");
    await waitFor(() => expect(options()).toEqual(["Pay with a cardTo do"]));
    await pick("Pay with a card");
    await pick("Ada");
    await screen.findByText("Assigned to Ada: Pay with a card");
    expect(asked.find((each) => each.method === "PATCH")?.body).toEqual({ assignee_id: "ada" });
  });

  it("asks for the reason that a move wants, and steps back where the field is empty", async () => {
    const blocked = fullTask({ task_id: "t1", title: one.title, status: "blocked", version: 2 });
    const asked = serve({ ...answers, "POST /tasks/t1/move": { task: blocked } });
    await open("/p/shop/board?task=t1");
    await pick("Block");
    expect(options()).toEqual([]);
    await userEvent.setup().type(screen.getByRole("combobox"), "{Backspace}");
    await pick("Block");
    ask("No key");
    await pick("Apply");
    await screen.findByText("Blocked: Pay with a card");
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ status: "blocked", reason: "No key" });
  });

  it("leads by the right arrow to what can be done with the task that is found", async () => {
    serve(answers);
    await open();
    ask("pay");
    await userEvent.setup().type(screen.getByRole("combobox"), "{ArrowRight}");
    await waitFor(() => expect(options()).toEqual(expect.arrayContaining(["Start", "Block", "Copy ID"])));
  });

  it("narrows to agents by @ and interrupts the one that works", async () => {
    const asked = serve({ ...answers, "DELETE /sessions/s1": {} });
    await open();
    ask("@");
    await waitFor(() => expect(options()).toEqual(["AdaWorker", "MikaManager", "Olga", "Vera"]));
    await pick("Ada");
    await pick("Interrupt");
    ask("Wrong file");
    await pick("Apply");
    await screen.findByText("Session ended: Ada");
    expect(asked.find((each) => each.method === "DELETE")?.query).toBe("?reason=Wrong%20file");
  });

  it("narrows to projects by # and pauses one", async () => {
    const asked = serve({ ...answers, "POST /projects/shop/pause": {} });
    await open();
    ask("#");
    await waitFor(() => expect(options()).toEqual(["Corner shop"]));
    await pick("Corner shop");
    await pick("Pause project");
    await screen.findByText("Paused: Corner shop");
    expect(asked.some((each) => each.path === "/projects/shop/pause")).toBe(true);
  });

  it("shows what was used last before everything else", async () => {
    serve(answers);
    await open();
    ask("dark");
    await pick("Dark theme");
    cleanup();
    await open();
    expect(within(screen.getByRole("group", { name: "Recently used" })).getByRole("option").textContent).toBe(
      "Dark theme",
    );
  });

  it("lists what the server finds in texts that are not read here", async () => {
    const found = { task_id: "t9", project_id: "shop", title: "Old invoice", status: "completed" };
    const asked = serve({ ...answers, "GET /task-search": { tasks: [found] } });
    const { href } = await open();
    ask("rounding");
    await pick("Old invoice");
    await waitFor(() => expect(href()).toContain("task=t9"));
    expect(asked.some((each) => each.query === "?text=rounding")).toBe(true);
  });
});

describe("an act", () => {
  it("is offered to nobody for a task that nothing can follow", () => {
    const over = { ...card({ task_id: "t1", status: "completed" }), project_id: "shop" };
    const verdict = { moves: null, judges: null, work: null };
    const left = TASK_ACTS.filter((each) => offers(each, over, verdict, true)).map((each) => each.name);
    expect(left).toEqual(["diff", "subtask", "copyId"]);
  });
});
