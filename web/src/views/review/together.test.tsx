import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { CombinedDiff, CombinedFile } from "@/api/model";
import { work } from "@/example-work";
import { fullTask, press, refusal, serve, show } from "@/testkit";
import { Together } from "@/views/review/together";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const AT = "/p/shop/review/together?tasks=t1,t2";
const PATH = "/p/$projectId/review/together";

const change = (task_id: string, more: Partial<CombinedFile["changes"][number]> = {}) => ({
  task_id,
  path: "f",
  old_path: null,
  status: "modified",
  insertions: 1,
  deletions: 1,
  binary: false,
  cut: false,
  head: "diff --git a/f b/f",
  ...more,
});
const file: CombinedFile = {
  path: "f",
  overlap: "conflict",
  meetings: [{ kind: "conflict", task_ids: ["t1", "t2"], lines: [3, 4], exact: false }],
  changes: [change("t1"), change("t2")],
  hunks: [
    { task_ids: ["t1"], text: "@@ -3 +3 @@\n-a\n+b\n" },
    { task_ids: ["t2"], text: "@@ -4 +4 @@\n-a\n+c\n" },
  ],
};
const order = (...ids: string[]): CombinedDiff["order"] =>
  ids.map((task_id) => ({
    worktree: { ...work, task_id, title: `Task ${task_id}`, state: "open", changes_requested: null },
    after: [],
    conflicts_with: ids.filter((each) => each !== task_id),
    truncated: false,
  }));
const diff: CombinedDiff = {
  order: order("t1", "t2"),
  missing: [],
  waiting: [],
  files: [file],
  files_in_all: 1,
  truncated: false,
};
const serving = (told: Partial<CombinedDiff>, more: Parameters<typeof serve>[0] = {}) =>
  serve({
    "POST /projects/shop/combined-diff": {
      jobs: [
        { task_id: "t1", job_id: "j1" },
        { task_id: "t2", job_id: "j2" },
      ],
      missing: [],
    },
    "GET /projects/shop/combined-diff": { ...diff, ...told },
    "GET /tasks/t1": { task: fullTask({ task_id: "t1", title: "Task t1" }) },
    "GET /tasks/t2": { task: fullTask({ task_id: "t2", title: "Task t2" }) },
    ...more,
  });

describe("a combined diff", () => {
  it("says how tasks overlap, and whose each hunk is", async () => {
    const asked = serving({});
    await show(<Together />, AT, PATH);
    const section = await screen.findByRole("region", { name: "f" });
    expect(within(section).getByText(/“Task t1” and “Task t2” change lines 3–4 differently/)).toBeTruthy();
    expect(within(section).getByText(/the lines are an estimate/)).toBeTruthy();
    expect(await within(section).findByRole("button", { name: /Task t2/ })).toBeTruthy();
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({
      task_ids: ["t1", "t2"],
      below: true,
      context: 3,
    });
    expect(asked.find((each) => each.path.endsWith("combined-diff") && each.method === "GET")?.query).toContain(
      "job_ids=j1&job_ids=j2",
    );
  });

  it("merges in the order that is shown, and stops at the first refusal", async () => {
    const asked = serving(
      { order: order("t2", "t1", "t3") },
      {
        "POST /tasks/t2/worktree/merge": { job_id: "m2" },
        "GET /worktree-jobs/m2": {
          worktree_job: {
            done: true,
            finished_at: "now",
            answer: { merged: [{ task_id: "t2", commit: "c2", into: "main" }] },
          },
        },
        "POST /tasks/t1/worktree/merge": refusal(409, "notNow", "Changes to “Task t1” were requested."),
      },
    );
    await show(<Together />, AT, PATH);
    await press("Merge 3 tasks in this order");
    const dialog = await screen.findByRole("dialog");
    expect(within(dialog).getByText(/will probably not be merged/)).toBeTruthy();
    await press("Merge", dialog);
    expect(await screen.findByText("Changes to “Task t1” were requested.")).toBeTruthy();
    expect(screen.getByText("Merged into main")).toBeTruthy();
    const merges = asked.filter((each) => each.path.endsWith("/merge"));
    expect(merges.map((each) => [each.path, each.body])).toEqual([
      ["/tasks/t2/worktree/merge", { below: false, anyway: false }],
      ["/tasks/t1/worktree/merge", { below: false, anyway: false }],
    ]);
    expect(screen.getByRole("button", { name: "Load again" })).toBeTruthy();
  });

  it("is read anew without the task that is left out, and without subtasks", async () => {
    const asked = serving({});
    const { href } = await show(<Together />, AT, PATH);
    await press("Leave out: Task t1");
    await waitFor(() => expect(decodeURIComponent(href())).toContain("tasks=t2&only=yes"));
    await waitFor(() =>
      expect(asked.filter((each) => each.method === "POST").at(-1)?.body).toMatchObject({
        task_ids: ["t2"],
        below: false,
      }),
    );
  });

  it("names what is not in it, and a Coordinator that does not answer", async () => {
    serving({
      order: order("t1"),
      missing: [{ task_id: "t3", title: "Roof", message: "It was merged or discarded in the meantime." }],
      waiting: ["j2"],
    });
    await show(<Together />, AT, PATH);
    expect(await screen.findByText("2 tasks are not in this diff:")).toBeTruthy();
    expect(screen.getByText(/“Roof”: It was merged/)).toBeTruthy();
    expect(screen.getByText("The Coordinator of 1 task has not answered.")).toBeTruthy();
  });

  it("says what has no lines, and what was cut", async () => {
    const changes = [change("t1", { cut: true }), change("t2", { binary: true, insertions: 0, deletions: 0 })];
    serving({ files: [{ ...file, overlap: "unknown", meetings: [], changes, hunks: [] }], truncated: true });
    await show(<Together />, AT, PATH);
    expect(await screen.findByText(/too large to be shown in full/)).toBeTruthy();
    expect(screen.getByText("Not in the part that is shown")).toBeTruthy();
    expect(screen.getByText("Binary file: cannot be shown here")).toBeTruthy();
  });

  it("is merged by nobody who may only look", async () => {
    serving({});
    await show(<Together />, AT, PATH, "viewer");
    await screen.findByRole("region", { name: "f" });
    expect(screen.queryByRole("button", { name: /Merge/ })).toBeNull();
  });

  it("says what to do where no task is chosen", async () => {
    serving({});
    await show(<Together />, "/p/shop/review/together", PATH);
    expect(await screen.findByText("No tasks are chosen")).toBeTruthy();
  });
});
