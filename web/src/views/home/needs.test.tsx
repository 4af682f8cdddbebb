import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { EVERYTHING, matches, parsed } from "@/api/filter";
import type { Need, Since } from "@/api/model";
import { card, deed, refusal, serve, show } from "@/testkit";
import { NeedsPanel } from "@/views/home/needs";
import { SincePanel } from "@/views/home/since";

const need = (given: Partial<Need> & { kind: string; actions: Need["actions"] }): Need => ({
  key: `${given.kind} ${given.task_id ?? given.agent_id ?? ""}`,
  project_id: "shop",
  task_id: null,
  agent_id: null,
  title: "",
  text: "",
  request: null,
  questions: [],
  path: "/",
  since: "2026-01-01T00:00:00Z",
  ...given,
});
const asked = {
  title: "Buy a server",
  description: "A big one.",
  context: '{"limit": "1; id"}',
  acceptance: [],
  commands: ["make \u202etest"],
  assignee_id: "ada",
  asked_by: "ada",
  asked_for: "olga",
  version: 7,
  complete: true,
};
const cut = { ...asked, complete: false };
const approval = need({
  kind: "approval",
  task_id: "t1",
  agent_id: "ada",
  title: "Approval requested: Buy a server",
  request: asked,
  actions: [
    deed("approve", "Approve", "approve_task", { task_id: "t1" }, "toryo task approve t1"),
    deed("reject", "Reject", "reject_task", { task_id: "t1" }, "toryo task reject t1 --reason …"),
    deed("show", "Open task", "show_task", { task_id: "t1" }, "toryo task show t1"),
  ],
});
const blocked = need({
  kind: "blocked",
  task_id: "t2",
  title: "Blocked: Call the bank",
  actions: [
    deed("unblock", "Unblock", "move_task", { task_id: "t2", status: "in_progress" }, "toryo task move t2 in_progress"),
  ],
});
const message = need({
  kind: "message",
  agent_id: "ren",
  title: "New message from Ren",
  actions: [deed("answer", "Reply", "send_chat_message", { agent_id: "ren" }, "toryo chat ren --project shop")],
});
const runs = { state: "runs" as const, tasks: 0, until: null };
const agents = { "GET /agents": { agents: [{ agent_id: "ada", name: "Ada" }] } };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("what needs you", () => {
  it("says who, what and for how long, without saying the kind twice", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[approval]} calm={runs} projectId="shop" />);
    const row = within((await screen.findAllByRole("listitem"))[0] as HTMLElement);
    expect(await row.findByText("Ada")).toBeTruthy();
    expect(row.getByRole("button", { name: "Buy a server" })).toBeTruthy();
    expect(row.getByText("Approval")).toBeTruthy();
  });

  it("shows who really asks, and every text that would be approved", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[approval]} calm={runs} projectId="shop" />);
    expect(await screen.findByText("Requested by Ada for olga. Assignee: Ada.")).toBeTruthy();
    for (const text of ["A big one.", '{"limit": "1; id"}', "make \\u{202e}test"])
      expect(screen.getByText(text)).toBeTruthy();
  });

  it("is read where all of it stands, if that is more than a row shows", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/approve": {} });
    await show(<NeedsPanel needs={[{ ...approval, request: cut }]} calm={runs} projectId="shop" />);
    await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
    expect(asked.filter((each) => each.method === "POST")).toEqual([]);
  });

  it("is done by `a`: the row of the cursor, which `j` moves", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/approve": {}, "POST /tasks/t2/move": {} });
    await show(<NeedsPanel needs={[approval, blocked]} calm={runs} projectId="shop" />);
    await screen.findByText("Buy a server");
    const user = userEvent.setup();
    await user.keyboard("a");
    expect((await screen.findByText("Approved: Buy a server")).textContent).toBeTruthy();
    await user.keyboard("ja");
    await screen.findByText("Unblocked: Call the bank");
    const done = asked.filter((each) => each.method === "POST").map(({ path, body }) => [path, body]);
    expect(done).toEqual([
      ["/tasks/t1/approve", undefined],
      ["/tasks/t2/move", { status: "in_progress" }],
    ]);
  });

  it("is rejected by `r` only with a reason", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/reject": {} });
    await show(<NeedsPanel needs={[approval]} calm={runs} projectId="shop" />);
    await screen.findByText("Buy a server");
    const user = userEvent.setup();
    await user.keyboard("r");
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Reject" }).disabled).toBe(true);
    await user.type(dialog.getByLabelText("Reason"), "Too dear");
    await user.click(dialog.getByRole("button", { name: "Reject" }));
    await screen.findByText("Rejected: Buy a server");
    expect(asked.find((each) => each.path === "/tasks/t1/reject")?.body).toEqual({ reason: "Too dear" });
  });

  it("says the server's reason where it is refused", async () => {
    serve({
      ...agents,
      "POST /tasks/t1/approve": refusal(409, "invalidTransition", "Task t1 is cancelled.", "File anew."),
    });
    await show(<NeedsPanel needs={[approval]} calm={runs} projectId="shop" />);
    await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Task t1 is cancelled.");
    expect(alert.textContent).toContain("File anew.");
  });

  it("leads to the chat where an answer is wanted", async () => {
    serve(agents);
    const { href } = await show(<NeedsPanel needs={[message]} calm={runs} projectId="shop" />);
    await userEvent.click(await screen.findByRole("button", { name: "Reply" }));
    await waitFor(() => expect(href()).toBe("/p/shop/chat?agent=ren"));
  });

  it("leads from the dead letters of a queue to just these, whatever its name", async () => {
    serve(agents);
    const dead = need({
      kind: "dead_letter",
      key: "dead_letter shop re view, 50%",
      task_id: "t3",
      title: "Dead letter: One and 2 more",
      actions: [deed("list", "Open list", "list_project_tasks", {}, "toryo queue dead --project shop")],
    });
    const { href } = await show(<NeedsPanel needs={[dead]} calm={runs} projectId="shop" />);
    await userEvent.click(await screen.findByRole("button", { name: "Open list" }));
    await waitFor(() => expect(href()).toContain("/p/shop/list?q="));
    const filter = parsed(new URLSearchParams(href().split("?")[1]).get("q") ?? "");
    expect(filter).toEqual({ ...EVERYTHING, status: ["failed"], queue: ["re view, 50%"] });
    const task = card({ task_id: "t3", status: "failed" });
    const found = ["re view, 50%", "other", null].filter((each) => matches({ ...task, agent_type: each }, filter));
    expect(found).toEqual(["re view, 50%"]);
  });

  it("shows the command of an action that no page knows", async () => {
    serve(agents);
    await show(
      <NeedsPanel
        needs={[need({ kind: "new", actions: [deed("dance", "Dance", "dance", {}, "toryo dance")] })]}
        calm={runs}
        projectId="shop"
      />,
    );
    expect(await screen.findByText("toryo dance")).toBeTruthy();
  });

  it("approves nothing that is folded: the request is shown first", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/approve": {} });
    await show(<NeedsPanel needs={[blocked, approval]} calm={runs} projectId="shop" />);
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
    await userEvent.click(await screen.findByRole("button", { name: "View request" }));
    expect(screen.getByText('{"limit": "1; id"}')).toBeTruthy();
    const button = screen.getByRole("button", { name: "Approve" });
    expect(document.activeElement).toBe(button);
    expect(asked.filter((each) => each.method === "POST")).toEqual([]);
    await userEvent.click(button);
    await screen.findByText("Approved: Buy a server");
  });

  it("leads to the agent whose program nobody has, and to the machines", async () => {
    serve(agents);
    const cannot = need({
      kind: "agent_cannot_start",
      agent_id: "ada",
      title: "No Coordinator has codex: Ada cannot start",
      actions: [
        deed(
          "change_program",
          "Change program",
          "edit_agent",
          { agent_id: "ada" },
          "toryo agent edit ada --provider NAME",
        ),
        deed("machines", "Machines", "server_status", {}, "toryo doctor"),
      ],
    });
    const { href } = await show(<NeedsPanel needs={[cannot]} calm={runs} projectId="shop" />);
    await userEvent.click(await screen.findByRole("button", { name: /^Change program/ }));
    expect(href()).toBe("/settings?tab=agents&agent=ada");
  });

  it.each([
    ["runs", 0, "Nothing needs attention"],
    ["runs", 2, "2 tasks are not started"],
    ["not_started", 3, "3 tasks are ready"],
    ["waits", 1, "Work continues by itself at"],
    ["runs_in_part", 2, "2 tasks wait for a quota, a budget or a cooldown, the first until"],
    ["held", 54, "54 tasks wait for something"],
    ["nothing_open", 0, "No open tasks"],
    ["no_team", 0, "No agents in the team"],
    ["paused", 4, "Paused"],
    ["archived", 0, "Archived"],
    ["no_project", 0, "No projects"],
  ] as const)("where nothing needs anybody it says what is true: %s, %i", async (state, tasks, words) => {
    serve(agents);
    const until = ["waits", "runs_in_part"].includes(state) ? "2026-01-01T14:05:00Z" : null;
    const page = await show(<NeedsPanel needs={[]} calm={{ state, tasks, until }} projectId="shop" />);
    expect((await screen.findByRole("heading")).closest("section")?.textContent).toContain(words);
    expect(page.container.querySelector(".text-green") !== null).toBe(state === "runs" && tasks === 0);
  });
});

describe("since you left", () => {
  const since: Since = {
    at: "2026-01-01T00:00:00Z",
    completed_in_all: 1,
    failed_in_all: 0,
    completed: [{ task_id: "t1", title: "Built the house", at: "2026-01-01T01:00:00Z" }],
    failed: [],
    decided: 3,
    spent_usd: null,
  };

  const moved = (sequence: number, what: string) => ({
    ...{ sequence, what, at: "2026-01-01T01:00:00Z", actor_id: "ada", by_person: false, reason: null },
  });
  const changed = (task_id: string, title: string, ...moves: object[]) => ({
    ...{ task_id, title, project_id: "shop", status: "completed", assignee_id: "ada", cost_usd: 0.5, tokens: 9, moves },
  });
  const news = {
    "GET /news": {
      since: since.at,
      complete: true,
      tasks: [
        changed("t1", "Built the house", moved(4, "completed"), moved(5, "merged")),
        changed("t2", "Painted it", moved(1, "asked")),
      ],
    },
  };

  it("is stepped through task by task, with what happened to each and its cost", async () => {
    serve(news);
    await show(<SincePanel projectId="shop" since={since} />);
    await screen.findByText("Built the house");
    expect(screen.getByText("Merged")).toBeTruthy();
    expect(screen.getByText("$0.50")).toBeTruthy();
    expect(screen.getByText("1 of 2")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Next task" }));
    expect(screen.getByText("Painted it")).toBeTruthy();
    expect(screen.getByText("Asked for approval")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Next task" }).hasAttribute("disabled")).toBe(true);
    await userEvent.keyboard("{[}");
    expect(screen.getByText("Built the house")).toBeTruthy();
  });

  it("is dismissed by `d`, and the server knows", async () => {
    const asked = serve({ "POST /visits": {}, ...news });
    await show(<SincePanel projectId={null} since={since} />);
    await screen.findByText("Built the house");
    await userEvent.keyboard("d");
    await waitFor(() => expect(screen.queryByText("Built the house")).toBeNull());
    expect(asked.filter((each) => each.method === "POST").map((each) => each.path)).toEqual(["/visits"]);
  });

  it("comes back where the server did not take it", async () => {
    serve({ "POST /visits": refusal(503, "unavailable", "Not now."), ...news });
    await show(<SincePanel projectId={null} since={since} />);
    await userEvent.click(await screen.findByRole("button", { name: /Dismiss/ }));
    expect((await screen.findByRole("alert")).textContent).toContain("Not now.");
    expect(screen.getByText("Built the house")).toBeTruthy();
  });

  it("is not there for who looks for the first time: what is news begins with that look", async () => {
    const asked = serve({ "POST /visits": {} });
    await show(<SincePanel projectId={null} since={{ ...since, at: null }} />);
    expect(screen.queryByText("Built the house")).toBeNull();
    await vi.waitFor(() => expect(asked.map((each) => each.path)).toEqual(["/visits"]));
  });
});
