import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT } from "@/example";
import { chooseLanguage } from "@/i18n";
import { press, refusal, serve, show, write } from "@/testkit";
import { SharedState } from "@/views/state";

const state = () => show(<SharedState />, "/p/shop/state", "/p/$projectId/state");
const set = (sequence: number, key: string, version: number, actor_id: string) => ({
  sequence,
  event_id: `evt_${sequence}`,
  at: AT,
  kind: "state.set",
  actor_id,
  by_person: false,
  project_id: "shop",
  task_id: null,
  agent_id: actor_id,
  session_id: null,
  launch_id: null,
  correlation_id: null,
  data: { key, version, ttl: 3600 },
});

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("shared state", () => {
  it("shows each value as a tree, with who set it", async () => {
    serve(ANSWERS);
    await state();
    const value = within(await screen.findByRole("region", { name: "api/schema" }));
    expect(value.getByText("Version 2")).toBeTruthy();
    expect(value.getByText('"/buy"')).toBeTruthy();
    expect((await value.findByText(/by Ada/)).textContent).toContain("by Ada");
  });

  it("is found by its key or by what is in it", async () => {
    serve(ANSWERS);
    await state();
    await screen.findByRole("region", { name: "api/schema" });
    write("Filter by key or value", "nothing like it");
    expect(screen.queryByRole("region")).toBeNull();
    expect(screen.getByText("No key or value matches the filter")).toBeTruthy();
    write("Filter by key or value", "/buy");
    expect(screen.getByRole("region", { name: "api/schema" })).toBeTruthy();
  });

  it("tells who has set a value before, and nothing of other keys", async () => {
    const events = [set(9, "api/schema", 2, "ada"), set(8, "other", 7, "ada"), set(5, "api/schema", 1, "mika")];
    const asked = serve({ ...ANSWERS, "GET /events": { events, last: 5 } });
    await state();
    await press("History");
    expect(await screen.findByText("Version 1")).toBeTruthy();
    expect(screen.getByText("Mika")).toBeTruthy();
    expect(screen.getAllByText("for 1 hr")).toHaveLength(2);
    expect(screen.queryByText("Version 7")).toBeNull();
    expect(asked.find((each) => each.path === "/events")?.query).toContain("kind=state.set");
    await press("History");
    await waitFor(() => expect(screen.queryByText("Version 1")).toBeNull());
  });

  it("says what the server says where it cannot be read", async () => {
    serve({ ...ANSWERS, "GET /projects/shop/state": refusal(403, "permissionDenied", "Not your project.", "Ask.") });
    await state();
    expect((await screen.findByRole("alert")).textContent).toContain("Not your project.");
  });

  it("teaches what it is where nothing is shared", async () => {
    serve({ ...ANSWERS, "GET /projects/shop/state": { entries: [] } });
    await state();
    expect(await screen.findByText("No shared values yet")).toBeTruthy();
  });
});
