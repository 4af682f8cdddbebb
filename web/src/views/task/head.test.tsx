import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { fullTask, serve, show } from "@/testkit";
import { Head } from "@/views/task/head";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the head of a task", () => {
  it("says that it goes to anyone who is free, and which capabilities that takes", async () => {
    serve({});
    const pool = { capabilities: ["python", "tests"] };
    await show(<Head task={fullTask({ task_id: "t1", assignee_id: null, pool })} />);
    expect(await screen.findByText("Anyone (python, tests)")).toBeDefined();
  });

  it("says why a request was rejected", async () => {
    serve({});
    const judged = { by: "olga", at: "2026-01-01T17:22:00", reason: "Not this year." };
    const rejected = { approval: "rejected" as const, judged };
    await show(<Head task={fullTask({ task_id: "t1", ...rejected })} />);
    await screen.findByText(/^Rejected by you, .*17:22/);
    expect(screen.getByText("Not this year.")).toBeDefined();
  });
});
