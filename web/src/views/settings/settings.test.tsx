import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT, ada } from "@/example";
import { chooseLanguage } from "@/i18n";
import { press, refusal, serve, show, write } from "@/testkit";
import { Settings } from "@/views/settings";

const at = (tab: string, more = "") => show(<Settings />, `/settings?tab=${tab}${more}`, "/settings");
const dialog = () => screen.findByRole("dialog");
const value = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;
const NO = (detail: string) => refusal(409, "conflict", detail, "Choose another one.");

async function refusedWith(words: string) {
  const alert = await within(await dialog()).findByRole("alert");
  expect(alert.textContent).toContain(words);
  expect(alert.textContent).toContain("Choose another one.");
}

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("retention", () => {
  it("is shown by kind, with what is due", async () => {
    serve(ANSWERS);
    await at("retention");
    const tasks = (await screen.findByText("Closed tasks, with their whole tree")).closest("tr") as HTMLElement;
    for (const words of ["180 days", "24,800", "12", "TORYO_RETENTION__TASK_DAYS"])
      expect(within(tasks).getByText(words)).toBeTruthy();
    expect(screen.getByText("Indefinitely")).toBeTruthy();
    expect(screen.getByText("toryo db prune")).toBeTruthy();
    expect(screen.queryByText(/deletes nothing by itself/)).toBeNull();
  });

  it("says when an upgraded server begins", async () => {
    serve({ ...ANSWERS, "GET /retention": { automatic: true, begins_at: AT, database_bytes: 1, kinds: [] } });
    await at("retention");
    expect(await screen.findByText(/deletes nothing by itself before/)).toBeTruthy();
  });
});

describe("an agent", () => {
  it("is made, and its passkey shown once", async () => {
    const asked = serve({ ...ANSWERS, "POST /agents": { agent: { ...ada, name: "Ben" }, passkey: "pk_once" } });
    await at("agents");
    await press("New agent");
    write("ID", "ben", await dialog());
    await press("Create agent", await dialog());
    expect(await screen.findByText("pk_once")).toBeTruthy();
    expect(asked.find((each) => each.method === "POST")?.body).toMatchObject({ id: "ben", role: "worker" });
    await press("Done");
    await waitFor(() => expect(screen.queryByText("pk_once")).toBeNull());
  });

  it("that is refused leaves what was typed", async () => {
    serve({ ...ANSWERS, "POST /agents": NO("There is a ben already.") });
    await at("agents");
    await press("New agent");
    write("ID", "ben", await dialog());
    write("Role description", "You saw.", await dialog());
    await press("Create agent", await dialog());
    await refusedWith("There is a ben already.");
    expect([value("ID"), value("Role description")]).toEqual(["ben", "You saw."]);
  });

  it("is deactivated, and that is taken back", async () => {
    const asked = serve({ ...ANSWERS, "POST /agents/ada/deactivate": {}, "POST /agents/ada/activate": {} });
    await at("agents", "&agent=ada");
    await press("Deactivate", await dialog());
    await press("Undo");
    await waitFor(() => expect(asked.map((each) => each.path)).toContain("/agents/ada/activate"));
  });
});

describe("an API key", () => {
  it("is shown once, and another one that is refused leaves what was typed", async () => {
    let answer: object = { token: "key_once" };
    serve({ ...ANSWERS, "POST /projects/shop/keys": () => answer });
    await at("keys");
    await screen.findByText("Night shift");
    await press("New API key");
    write("Purpose", "Nightly", await dialog());
    await press("Create key", await dialog());
    expect(await screen.findByText("key_once")).toBeTruthy();
    await press("Done");
    answer = NO("No agent has this id.");
    await press("New API key");
    write("Agent", "nobody", await dialog());
    await press("Create key", await dialog());
    await refusedWith("No agent has this id.");
    expect(value("Agent")).toBe("nobody");
  });

  it("is revoked after asking; a refusal is shown there", async () => {
    const asked = serve({ ...ANSWERS, "POST /keys/key_1/revoke": NO("It is revoked already.") });
    await at("keys");
    await press("Revoke");
    expect(asked.some((each) => each.method === "POST")).toBe(false);
    await press("Revoke", await dialog());
    await refusedWith("It is revoked already.");
  });
});

describe("a token of mine", () => {
  const token = {
    token_id: "pat_1",
    person_id: "olga",
    name: "Script",
    login: "owner",
    created_at: AT,
    expires_at: null,
    last_used_on: null,
    this_one: false,
  };

  it("is made, shown once, and revoked after asking", async () => {
    const asked = serve({
      ...ANSWERS,
      "GET /access-tokens": { access_tokens: [token] },
      "POST /access-tokens": { token: "pat_once" },
      "DELETE /access-tokens/pat_1": {},
    });
    await at("me");
    await press("New token");
    write("Purpose", "CI", await dialog());
    await press("Create token", await dialog());
    expect(await screen.findByText("pat_once")).toBeTruthy();
    await press("Done");
    await press("Revoke");
    await press("Revoke", await dialog());
    await waitFor(() => expect(asked.some((each) => each.method === "DELETE")).toBe(true));
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ name: "CI", days: 90 });
  });
});

describe("a person", () => {
  it("that is refused leaves what was typed", async () => {
    serve({ ...ANSWERS, "POST /people": NO("There is a vera already.") });
    await at("people");
    await press("Add person");
    write("ID", "vera", await dialog());
    write("Email", "vera@example.org", await dialog());
    await press("Add", await dialog());
    await refusedWith("There is a vera already.");
    expect([value("ID"), value("Email")]).toEqual(["vera", "vera@example.org"]);
  });

  it("is given a password, or told why not", async () => {
    let answer: object = NO("That password is too short.");
    const asked = serve({ ...ANSWERS, "PUT /people/vera/password": () => answer });
    await at("people");
    await screen.findByText("Vera");
    await press("Password", screen.getByText("Vera").closest("li") as HTMLElement);
    write("New password", "short", await dialog());
    await press("Set password", await dialog());
    await refusedWith("That password is too short.");
    expect(value("New password")).toBe("short");
    answer = { signed_out: 1 };
    await press("Set password", await dialog());
    expect(await screen.findByText("Password set; 1 other browser signed out")).toBeTruthy();
    expect(asked.at(-1)?.method).toBeTruthy();
  });

  it("is removed after asking", async () => {
    const asked = serve({ ...ANSWERS, "DELETE /people/vera": {} });
    await at("people");
    await screen.findByText("Vera");
    await press("Remove", screen.getByText("Vera").closest("li") as HTMLElement);
    await press("Remove", await dialog());
    await waitFor(() => expect(asked.some((each) => each.method === "DELETE")).toBe(true));
  });
});

describe("a project", () => {
  it("that is refused leaves what was typed", async () => {
    serve({ ...ANSWERS, "POST /projects": NO("There is no such directory.") });
    await at("projects");
    await press("New project");
    write("Name", "House", await dialog());
    write("Directory", "/nowhere", await dialog());
    await press("Create project", await dialog());
    await refusedWith("There is no such directory.");
    expect([value("Name"), value("Directory")]).toEqual(["House", "/nowhere"]);
  });
});
