import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Task } from "@/api/model";
import { ANSWERS } from "@/example";
import { chooseLanguage } from "@/i18n";
import { fullTask, press, refusal, serve, show } from "@/testkit";
import { TaskPage } from "@/views/task";

type Result = Task["check_results"][number];

const result: Result = { check: "npm test", outcome: "failed", runs: 1, seconds: 2, exit_code: 1, output: "" };
const shot = { artifact_id: "shot", name: "shots/pay.png", bytes: 4_000, media_type: "image/png" };
const report = { artifact_id: "report", name: "report.html", bytes: 900, media_type: "text/html" };
const withFiles = (told: Partial<Result>): Task =>
  fullTask({
    task_id: "t1",
    checks: "failed",
    acceptance: [{ command: "npm test" }],
    check_results: [{ ...result, ...told }],
  });
const path = "DELETE /tasks/t1/artifacts/shot";

beforeEach(() => {
  chooseLanguage("en");
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** A server that forgets the picture when it is deleted, and says so beside the check. */
function forgetting() {
  let task = withFiles({ artifacts: [shot, report] });
  return serve({
    ...ANSWERS,
    "GET /tasks/t1": () => ({ task }),
    [path]: () => {
      task = withFiles({ artifacts: [report], left_out: ["shots/pay.png was deleted by Olga."] });
      return { success: true, artifact_id: "shot" };
    },
  });
}

async function open(login: "owner" | "member" | "viewer" = "owner") {
  await show(<TaskPage />, "/t/t1", "/t/$taskId", login);
  await screen.findByRole("link", { name: /report\.html/ });
}

describe("a file that a check has left", () => {
  it("is deleted by an owner who confirms it, and the result of the check says so", async () => {
    const asked = forgetting();
    await open();
    await press("Delete shots/pay.png");
    const dialog = await screen.findByRole("dialog", { name: "Delete shots/pay.png?" });
    expect(asked.some((each) => each.method === "DELETE")).toBe(false);
    await press("Delete", dialog);
    await waitFor(() => expect(screen.queryByRole("link", { name: /pay\.png/ })).toBeNull());
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(screen.getByText("shots/pay.png was deleted by Olga.")).toBeTruthy();
    expect(screen.getByRole("link", { name: /report\.html/ })).toBeTruthy();
    expect(asked.filter((each) => each.method === "DELETE")).toHaveLength(1);
  });

  it("stays when the owner thinks better of it", async () => {
    const asked = forgetting();
    await open();
    await press("Delete shots/pay.png");
    await press("Cancel", await screen.findByRole("dialog"));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(screen.getByRole("link", { name: /pay\.png/ })).toBeTruthy();
    expect(asked.some((each) => each.method === "DELETE")).toBe(false);
  });

  it("stays when the server refuses, which is said in the dialog", async () => {
    serve({
      ...ANSWERS,
      "GET /tasks/t1": { task: withFiles({ artifacts: [shot, report] }) },
      [path]: refusal(404, "ARTIFACT_NOT_FOUND", "Task t1 has no artifact shot."),
    });
    await open();
    await press("Delete shots/pay.png");
    const dialog = await screen.findByRole("dialog");
    fireEvent.click(within(dialog).getByRole("button", { name: "Delete" }));
    expect(await within(dialog).findByText("Task t1 has no artifact shot.")).toBeTruthy();
    expect(screen.getByRole("link", { name: /pay\.png/, hidden: true })).toBeTruthy();
  });

  it.each(["member", "viewer"] as const)("is not deleted by a %s", async (login) => {
    forgetting();
    await open(login);
    expect(screen.queryByRole("button", { name: /^Delete/ })).toBeNull();
  });
});
