import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { fullTask, serve, show } from "@/testkit";
import { Head } from "@/views/task/head";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the head of a task", () => {
  it("says why a request was rejected", async () => {
    serve({});
    const rejected = { approval: "rejected" as const, rejected_by: "owner", rejection_reason: "Not this year." };
    await show(<Head task={fullTask({ task_id: "t1", ...rejected })} />);
    await screen.findByText("Request rejected");
    expect(screen.getByText("Not this year.")).toBeDefined();
  });
});
