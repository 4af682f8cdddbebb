import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { RequestedChanges } from "@/api/model";
import { SentBack } from "@/app/sent-back";
import { work } from "@/example-work";
import { fullTask, press, serve, show, write } from "@/testkit";
import { Asking } from "@/views/review/asking";
import { Merging } from "@/views/review/merging";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const task = fullTask({ task_id: "t1", title: "Show prices", status: "completed", assignee_id: "ada" });
const changes: RequestedChanges = {
  task_id: "t2",
  title: "Round them",
  status: "in_progress",
  assignee_id: "ada",
  requested_by: "olga",
};
const answers = {
  "GET /tasks/t2": { task: fullTask({ task_id: "t2", title: "Round them", status: "in_progress" }) },
  "GET /projects/shop/board": { tasks: [], whole: true, columns: [], older: null, last_event: 1 },
  "GET /projects/shop/worktrees": { worktrees: [] },
};
const NO_COMMENTS = { all: [], place: "c", put: () => undefined, drop: () => undefined, clear: () => undefined };

describe("work that was sent back", () => {
  it("is merged only after one has said so", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/worktree/merge": { job_id: "j1" },
      "GET /worktree-jobs/j1": { worktree_job: { done: true, finished_at: "now", answer: { merged: [] } } },
    });
    const sentBack = { ...work, changes_requested: changes };
    await show(<Merging task={task} work={sentBack} unsent={0} onClose={() => undefined} />);
    const dialog = await screen.findByRole("dialog");
    const merge = within(dialog).getByRole("button", { name: "Merge" });
    expect(within(dialog).getByText(/Changes were requested/)).toBeTruthy();
    expect(await within(dialog).findByRole("button", { name: /Round them/ })).toBeTruthy();
    expect(merge).toHaveProperty("disabled", true);
    fireEvent.click(within(dialog).getByLabelText("Merge without these changes"));
    fireEvent.click(merge);
    await waitFor(() => expect(asked.find((each) => each.method === "POST")?.body).toMatchObject({ anyway: true }));
  });

  it("is offered to be merged as it is where only that was in the way", async () => {
    const refused = { trouble: "toryo/t1 has changed since its checks passed", anyway: true };
    const asked = serve({
      ...answers,
      "POST /tasks/t1/worktree/merge": { job_id: "j1" },
      "GET /worktree-jobs/j1": { worktree_job: { done: false, finished_at: "now", answer: refused } },
    });
    await show(<Merging task={task} work={work} unsent={0} onClose={() => undefined} />);
    const dialog = await screen.findByRole("dialog");
    await press("Merge", dialog);
    fireEvent.click(await within(dialog).findByLabelText("Merge it as it is"));
    await press("Merge", dialog);
    const sent = () => asked.filter((each) => each.method === "POST").map((each) => each.body);
    await waitFor(() => expect(sent()).toMatchObject([{ anyway: false }, { anyway: true }]));
  });

  it("is still being merged where the Coordinator has left in the middle: that is said", async () => {
    serve({
      ...answers,
      "POST /tasks/t1/worktree/merge": { job_id: "j1" },
      "GET /worktree-jobs/j1": { worktree_job: { done: null, finished_at: null, answer: null } },
    });
    await show(<Merging task={task} work={work} unsent={0} onClose={() => undefined} />);
    await press("Merge", await screen.findByRole("dialog"));
    expect(await screen.findByText(/The Coordinator has not answered yet/)).toBeTruthy();
  });

  it("leads to the task that makes the changes, from the moment it was asked for", async () => {
    const asked = serve({
      ...answers,
      "POST /tasks/t1/worktree/changes": { task_id: "t1", changes_requested: changes, waits: "Ada has other work." },
    });
    const { href } = await show(<Asking task={task} comments={NO_COMMENTS} onClose={() => undefined} />);
    write("General comment", "Round them, please.");
    await press("Send");
    expect(await screen.findByText("Ada has other work.")).toBeTruthy();
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({
      title: "Changes to: Show prices",
      text: "Round them, please.",
    });
    await press("Open");
    await waitFor(() => expect(href()).toContain("task=t2"));
  });

  it("says so until that task ends", async () => {
    serve(answers);
    await show(<SentBack changes={changes} />);
    expect(await screen.findByText("Changes requested")).toBeTruthy();
    cleanup();
    serve({ "GET /tasks/t2": { task: fullTask({ task_id: "t2", title: "Round them", status: "completed" }) } });
    await show(<SentBack changes={changes} />);
    await waitFor(() => expect(screen.queryByText("Changes requested")).toBeNull());
  });
});
