import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { EVERYTHING, matches, parsed } from "@/api/filter";
import type { Need, Since } from "@/api/model";
import { card, refusal, serve, show } from "@/testkit";
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
    { name: "approve", command: "toryo task approve t1" },
    { name: "reject", command: "toryo task reject t1 --reason …" },
    { name: "show", command: "toryo task show t1" },
  ],
});
const blocked = need({
  kind: "blocked",
  task_id: "t2",
  title: "Blocked: Call the bank",
  actions: [{ name: "unblock", command: "toryo task move t2 in_progress" }],
});
const message = need({
  kind: "message",
  agent_id: "ren",
  title: "New message from Ren",
  actions: [{ name: "answer", command: "toryo chat ren --project shop" }],
});
const agents = { "GET /agents": { agents: [{ agent_id: "ada", name: "Ada" }] } };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("what needs you", () => {
  it("says who, what and for how long, without saying the kind twice", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[approval]} />);
    const row = within((await screen.findAllByRole("listitem"))[0] as HTMLElement);
    expect(await row.findByText("Ada")).toBeTruthy();
    expect(row.getByRole("button", { name: "Buy a server" })).toBeTruthy();
    expect(row.getByText("Approval")).toBeTruthy();
  });

  it("shows who really asks, and every text that would be approved", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[approval]} />);
    expect(await screen.findByText("Requested by Ada for olga. Assignee: Ada.")).toBeTruthy();
    for (const text of ["A big one.", '{"limit": "1; id"}', "make \\u{202e}test"])
      expect(screen.getByText(text)).toBeTruthy();
  });

  it("is read where all of it stands, if that is more than a row shows", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/approve": {} });
    await show(<NeedsPanel needs={[{ ...approval, request: cut }]} />);
    await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
    expect(asked.filter((each) => each.method === "POST")).toEqual([]);
  });

  it("is done by `a`: the row of the cursor, which `j` moves", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/approve": {}, "POST /tasks/t2/move": {} });
    await show(<NeedsPanel needs={[approval, blocked]} />);
    await screen.findByText("Buy a server");
    const user = userEvent.setup();
    await user.keyboard("a");
    expect((await screen.findByText("Approved: Buy a server")).textContent).toBeTruthy();
    await user.keyboard("ja");
    await screen.findByText("Unblocked: Call the bank");
    const done = asked.filter((each) => each.method === "POST").map(({ path, body }) => [path, body]);
    expect(done).toEqual([
      ["/tasks/t1/approve", {}],
      ["/tasks/t2/move", { status: "in_progress" }],
    ]);
  });

  it("is rejected by `r` only with a reason", async () => {
    const asked = serve({ ...agents, "POST /tasks/t1/reject": {} });
    await show(<NeedsPanel needs={[approval]} />);
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
    await show(<NeedsPanel needs={[approval]} />);
    await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Task t1 is cancelled.");
    expect(alert.textContent).toContain("File anew.");
  });

  it("leads to the chat where an answer is wanted", async () => {
    serve(agents);
    const { href } = await show(<NeedsPanel needs={[message]} />);
    await userEvent.click(await screen.findByRole("button", { name: "Reply" }));
    await vi.waitFor(() => expect(href()).toBe("/p/shop/chat?agent=ren"));
  });

  it("leads from the dead letters of a queue to just these, whatever its name", async () => {
    serve(agents);
    const dead = need({
      kind: "dead_letter",
      key: "dead_letter shop re view, 50%",
      task_id: "t3",
      title: "Dead letter: One and 2 more",
      actions: [{ name: "list", command: "toryo queue dead --project shop" }],
    });
    const { href } = await show(<NeedsPanel needs={[dead]} />);
    await userEvent.click(await screen.findByRole("button", { name: "Open list" }));
    await vi.waitFor(() => expect(href()).toContain("/p/shop/list?q="));
    const filter = parsed(new URLSearchParams(href().split("?")[1]).get("q") ?? "");
    expect(filter).toEqual({ ...EVERYTHING, status: ["failed"], queue: ["re view, 50%"] });
    const task = card({ task_id: "t3", status: "failed" });
    const found = ["re view, 50%", "other", null].filter((each) => matches({ ...task, agent_type: each }, filter));
    expect(found).toEqual(["re view, 50%"]);
  });

  it("shows the command of an action that no page knows", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[need({ kind: "new", actions: [{ name: "dance", command: "toryo dance" }] })]} />);
    expect(await screen.findByText("toryo dance")).toBeTruthy();
  });

  it("says that nothing needs you where nothing does", async () => {
    serve(agents);
    await show(<NeedsPanel needs={[]} />);
    expect(await screen.findByText("Nothing needs attention")).toBeTruthy();
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

  it("is dismissed by `x`, and the server knows", async () => {
    const asked = serve({ "POST /visits": {} });
    await show(<SincePanel since={since} />);
    await screen.findByText("Built the house");
    await userEvent.keyboard("x");
    await vi.waitFor(() => expect(screen.queryByText("Built the house")).toBeNull());
    expect(asked.map((each) => each.path)).toEqual(["/visits"]);
  });

  it("comes back where the server did not take it", async () => {
    serve({ "POST /visits": refusal(503, "unavailable", "Not now.") });
    await show(<SincePanel since={since} />);
    await userEvent.click(await screen.findByRole("button", { name: /Dismiss/ }));
    expect((await screen.findByRole("alert")).textContent).toContain("Not now.");
    expect(screen.getByText("Built the house")).toBeTruthy();
  });

  it("is not there for who was never away", async () => {
    await show(<SincePanel since={{ ...since, at: null }} />);
    expect(screen.queryByText("Built the house")).toBeNull();
  });
});
