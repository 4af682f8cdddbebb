import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Message, Task } from "@/api/model";
import { fullTask, press, serve, show } from "@/testkit";
import { withoutTitles } from "@/ui";
import { Messages } from "@/views/chat/messages";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const request = (given: Partial<Task> = {}) =>
  fullTask({
    task_id: "tsk_paintthewall",
    title: "Paint the wall",
    description: "In red",
    status: "backlog",
    approval: "pending_approval",
    created_by: "sora",
    requested_by: "sora",
    assignee_id: "ren",
    parent_task_id: "p1",
    ...given,
  });

const message = (id: string, content: string): Message => ({
  message_id: id,
  from_agent_id: "system:toryo",
  from_name: "Toryo",
  from_kind: "system",
  to_agent_id: "olga",
  kind: "system",
  content,
  conversation_id: null,
  related_task_id: "tsk_paintthewall",
  created_at: "2026-01-01T00:00:00Z",
  sequence: Number(id),
});

const ASKED = message("1", "Sora requests it. Approve or reject it: toryo task approve tsk_paintthewall");
const TOLD = message("2", "It was looked at.");
const rest = {
  "GET /agents": {
    agents: [
      { agent_id: "sora", name: "Sora" },
      { agent_id: "ren", name: "Ren" },
    ],
  },
  "GET /tasks/tsk_paintthewall/moves": { moves: [], may_judge: true },
  "GET /needs-you": { items: [] },
  "GET /usage": { totals: { launches: 1, cost_usd: 1.5 }, rows: [] },
};

describe("a request in a chat", () => {
  it("asks once, with its title, why and the cost so far, and never with commands", async () => {
    serve({ ...rest, "GET /tasks/tsk_paintthewall": { task: request() } });
    await show(<Messages messages={[ASKED, TOLD]} me="olga" />);
    expect(await screen.findByText("Sora requests this task for Ren.")).toBeTruthy();
    expect(screen.getByText("In red")).toBeTruthy();
    expect(await screen.findByText("Cost of the parent task so far: $1.50")).toBeTruthy();
    expect(screen.getAllByRole("button", { name: /Approve/ })).toHaveLength(1);
    expect(document.body.textContent).not.toContain("toryo task");
    expect(screen.getByText("It was looked at.")).toBeTruthy();
  });

  it("says who has answered it, and when, from then on", async () => {
    let now = request();
    const judged = { by: "olga", at: new Date(2026, 0, 1, 17, 22).toISOString(), reason: null };
    const asked = serve({
      ...rest,
      "GET /tasks/tsk_paintthewall": () => ({ task: now }),
      "POST /tasks/tsk_paintthewall/approve": () => {
        now = request({ approval: "approved", approved_by: "olga", judged, version: 2 });
        return { task: now };
      },
    });
    await show(<Messages messages={[ASKED]} me="olga" />);
    await press(/Approve/);
    expect(await screen.findByText(/^Approved by you, .*17:22/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Approve/ })).toBeNull();
    expect(asked.find((each) => each.method === "POST")).toMatchObject({ version: '"1"' });
  });

  it("is answered by its key", async () => {
    const asked = serve({
      ...rest,
      "GET /tasks/tsk_paintthewall": { task: request() },
      "POST /tasks/tsk_paintthewall/approve": { task: request({ approval: "approved" }) },
    });
    await show(<Messages messages={[ASKED]} me="olga" />);
    await screen.findByRole("button", { name: /Approve/ });
    fireEvent.keyDown(document.body, { key: "a" });
    await waitFor(() => expect(asked.some((each) => each.path.endsWith("/approve"))).toBe(true));
  });

  it("shows whoever may not judge it nothing to press", async () => {
    serve({
      ...rest,
      "GET /tasks/tsk_paintthewall": { task: request() },
      "GET /tasks/tsk_paintthewall/moves": { moves: [], may_judge: false },
    });
    await show(<Messages messages={[ASKED]} me="olga" />);
    await screen.findByText("Approval requested");
    expect(screen.queryByRole("button", { name: /Approve/ })).toBeNull();
  });
});

describe("a title that stands before the id of its task", () => {
  it("is left to the chip", () => {
    expect(withoutTitles("“Paint” (tsk_abcdefgh1) was approved.")).toBe("tsk_abcdefgh1 was approved.");
    expect(withoutTitles("「塗装」（tsk_abcdefgh1）が承認されました。")).toBe("tsk_abcdefgh1が承認されました。");
    expect(withoutTitles("“Paint” was approved.")).toBe("“Paint” was approved.");
  });
});
