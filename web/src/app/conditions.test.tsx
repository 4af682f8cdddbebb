import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Condition } from "@/api/model";
import { Conditions } from "@/app/conditions";
import { ANSWERS, shop } from "@/example";
import { deed, press, serve, show } from "@/testkit";

const condition = (given: Partial<Condition>): Condition => ({
  kind: "paused",
  project_id: "shop",
  text: "This project is paused.",
  since: "2026-01-01T00:00:00Z",
  until: null,
  agent_id: null,
  account: null,
  actions: [deed("resume_project", "Resume", "resume_project", {}, "toryo project resume shop")],
  ...given,
});
const missing = condition({
  kind: "program_missing",
  text: "No Coordinator has codex. 2 tasks wait.",
  agent_id: "ada",
  actions: [
    deed("change_program", "Change program", "edit_agent", { agent_id: "ada" }, "toryo agent edit ada --provider NAME"),
    deed("machines", "Machines", "server_status", {}, "toryo doctor"),
  ],
});
const off = (...found: Condition[]) => ({
  ...ANSWERS,
  "GET /conditions": { conditions: found, look_again_after: 10 },
});
const bar = (at = "/p/shop/board", path = "/p/$projectId/board", login: "owner" | "member" | "viewer" = "owner") =>
  show(<Conditions project={shop} />, at, path, login);

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the line under the header", () => {
  it("says that the project is paused, and resumes it", async () => {
    const asked = serve({ ...off(condition({})), "POST /projects/shop/resume": {} });
    await bar();
    expect((await screen.findByRole("listitem")).textContent).toContain("This project is paused.");
    await press("Resume");
    await waitFor(() => expect(asked.some((each) => each.path === "/projects/shop/resume")).toBe(true));
  });

  it("leads to the agent that needs another program", async () => {
    serve(off(missing));
    const { href } = await bar();
    await press("Change program");
    expect(href()).toBe("/settings?tab=agents&agent=ada");
  });

  it("leads to the quota that is kept, and says until when", async () => {
    serve(
      off(
        condition({
          kind: "quota_kept",
          text: "The account claude has no quota to spare for tasks of low priority. 2 tasks wait.",
          since: null,
          until: "2999-01-01T00:00:00Z",
          account: "claude",
          actions: [
            deed("edit_quota", "Edit quota", "edit_quota", {}, "toryo quota edit claude --low-priority any"),
            deed("usage", "View usage", "show_usage", {}, "toryo usage --project shop"),
          ],
        }),
      ),
    );
    const { href } = await bar();
    expect((await screen.findByRole("listitem")).textContent).toContain("2 tasks wait.");
    await press("Edit quota");
    expect(href()).toBe("/p/shop/usage?q=claude");
  });

  it("offers a member only what a member may do", async () => {
    serve(off(missing));
    await bar(undefined, undefined, "member");
    expect((await screen.findAllByRole("button")).map((each) => each.textContent)).toEqual(["Machines"]);
  });

  it("is not there where all is well, nor in the settings", async () => {
    const asked = serve(off());
    const { container } = await bar();
    await waitFor(() => expect(asked.some((each) => each.path === "/conditions")).toBe(true));
    expect(container.querySelector("ul[aria-label]")).toBeNull();
    cleanup();
    const settings = serve(off(missing));
    await bar("/settings", "/settings");
    expect(settings.some((each) => each.path === "/conditions")).toBe(false);
  });

  it("looks again when the server says so, and then reads the overview again", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    let found: Condition[] = [];
    const asked = serve({ ...off(), "GET /conditions": () => ({ conditions: found, look_again_after: 10 }) });
    const { client } = await bar();
    client.setQueryData(["overview", "shop"], {});
    await waitFor(() => expect(asked.filter((each) => each.path === "/conditions")).toHaveLength(1));
    found = [missing];
    await vi.advanceTimersByTimeAsync(10_100);
    expect((await screen.findByRole("listitem")).textContent).toContain("No Coordinator has codex.");
    await waitFor(() => expect(client.getQueryState(["overview", "shop"])?.isInvalidated).toBe(true));
  });
});
