import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, ada, decision, member, overview } from "@/example";
import { chooseLanguage } from "@/i18n";
import { choose, press, refusal, serve, show, write } from "@/testkit";
import { Team } from "@/views/team";

const NO = refusal.bind(null, 409, "conflict", "Ada still holds a task.", "Move it first.");
const team = () => show(<Team />, "/p/shop/team", "/p/$projectId/team");
const changes = (asked: { method: string }[]) => asked.filter((each) => each.method !== "GET");
const dialog = () => screen.findByRole("dialog");

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the team", () => {
  it("shows who leads whom, and what each does now", async () => {
    const working = member({
      agent_id: "ada",
      name: "Ada",
      state: "working",
      task_id: "t1",
      task_title: "Show prices",
    });
    serve({ ...ANSWERS, "GET /overview": { ...overview, team: [working] } });
    await team();
    const row = within(await screen.findByRole("article", { name: "Ada" }));
    expect(await row.findByText("Show prices")).toBeTruthy();
    expect(row.getByText("Working")).toBeTruthy();
    expect(screen.getByRole("article", { name: "Mika" })).toBeTruthy();
    expect(screen.getByText("1 agent · 1 person")).toBeTruthy();
  });

  it("tells why an agent does not run, with the row that decided", async () => {
    serve(ANSWERS);
    await team();
    await press("Why Ada is or is not running");
    expect(await screen.findByText("1 fact")).toBeTruthy();
    expect(document.body.textContent).toContain(decision.rule);
  });

  it("says what the server says where it cannot be read, and asks again", async () => {
    serve({ ...ANSWERS, "GET /projects/shop/members": refusal(404, "notFound", "There is no project shop.") });
    await team();
    expect((await screen.findByRole("alert")).textContent).toContain("There is no project shop.");
    expect(screen.getByRole("button", { name: "Retry" })).toBeTruthy();
  });
});

describe("changing an agent", () => {
  it("sends only what differs, on top of the version one has seen", async () => {
    const asked = serve({ ...ANSWERS, "PATCH /agents/ada": { agent: ada } });
    await team();
    await choose("Actions for Ada", "Edit");
    await screen.findByLabelText("Name");
    write("Name", "Ada L.", await dialog());
    await press("Save", await dialog());
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(changes(asked)).toMatchObject([
      { path: "/agents/ada", body: { name: "Ada L.", preview: true }, version: '"3"' },
      { path: "/agents/ada", body: { name: "Ada L." }, version: '"3"' },
    ]);
  });

  it("asks back before it gives more rights, and changes nothing without a yes", async () => {
    const asked = serve({ ...ANSWERS, "PATCH /agents/ada": { agent: ada, widened: ["role: worker → manager"] } });
    const made = () => changes(asked).filter((each) => !("preview" in ((each as { body?: object }).body ?? {})));
    await team();
    await choose("Actions for Ada", "Edit");
    await screen.findByLabelText("Name");
    write("Name", "Ada L.", await dialog());
    await press("Save", await dialog());
    expect(await screen.findByText("role: worker → manager")).toBeTruthy();
    expect(made()).toEqual([]);
    await press("Save anyway");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(made()).toMatchObject([{ path: "/agents/ada", body: { name: "Ada L." } }]);
  });

  it("deactivates after asking, and offers to take it back", async () => {
    const asked = serve({ ...ANSWERS, "POST /agents/ada/deactivate": {}, "POST /agents/ada/activate": {} });
    await team();
    await choose("Actions for Ada", "Deactivate");
    expect(changes(asked)).toEqual([]);
    await press("Deactivate", await dialog());
    await press("Undo");
    await screen.findByText("Ada activated");
    expect(changes(asked).map((each) => (each as { path?: string }).path)).toEqual([
      "/agents/ada/deactivate",
      "/agents/ada/activate",
    ]);
  });

  it("shows why deactivating is refused where it was asked for", async () => {
    serve({ ...ANSWERS, "POST /agents/ada/deactivate": NO });
    await team();
    await choose("Actions for Ada", "Deactivate");
    await press("Deactivate", await dialog());
    const alert = await within(await dialog()).findByRole("alert");
    expect(alert.textContent).toContain("Ada still holds a task.");
    expect(alert.textContent).toContain("Move it first.");
  });

  it("renews a passkey after asking, and shows the new one", async () => {
    serve({ ...ANSWERS, "POST /agents/ada/passkey": { passkey: "pk_new" } });
    await team();
    await choose("Actions for Ada", "Renew passkey");
    await press("Renew passkey", await dialog());
    expect(await screen.findByText("pk_new")).toBeTruthy();
  });
});
