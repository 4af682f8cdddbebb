import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT, ada, mika, shop } from "@/example";
import { chooseLanguage } from "@/i18n";
import { press, refusal, serve, show, write } from "@/testkit";
import { NewAgent, Settings } from "@/views/settings";

const at = (tab: string, more = "") => show(<Settings />, `/settings?tab=${tab}${more}`, "/settings");
const dialog = () => screen.findByRole("dialog");
const value = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;
const NO = (detail: string) => refusal(409, "conflict", detail, "Choose another one.");

async function refusedWith(words: string) {
  const alert = await within(await dialog()).findByRole("alert");
  expect(alert.textContent).toContain(words);
  expect(alert.textContent).toContain("Choose another one.");
}

beforeEach(() => {
  localStorage.clear();
  chooseLanguage("en");
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const machine = (coordinator_id: string, providers: string[], seconds_ago = 1) => ({
  ...{ coordinator_id, providers, labels: [], capabilities: null, agents: null, running: 0, disk: null },
  ...{ seen_at: AT, seconds_ago },
});
const plant = (...coordinators: object[]) => ({
  "GET /status": { ...(ANSWERS["GET /status"] as object), coordinators },
});
const made = { agent: { ...ada, name: "Ben" }, passkey: "pk_once" };

describe("a new agent", () => {
  const open = (more: Parameters<typeof serve>[0], projectId?: string) => {
    const asked = serve({ ...ANSWERS, "POST /agents": made, ...more });
    const close = vi.fn();
    return show(<NewAgent close={close} projectId={projectId} />, "/settings", "/settings").then(() => ({
      close,
      posts: () => asked.filter((each) => each.method === "POST").map((each) => each.body),
    }));
  };
  const program = (name: RegExp) => screen.findByRole<HTMLInputElement>("radio", { name });

  it("has a name and the only program that is installed; its Coordinator needs no passkey", async () => {
    const { close, posts } = await open(plant(machine("vm-1", ["claude", "command"])), "shop");
    await waitFor(async () => expect((await program(/Claude Code/)).checked).toBe(true));
    expect((await program(/Claude Code/)).closest("label")?.textContent).toContain("Installed on vm-1");
    write("Name", "Ben Oak", await dialog());
    expect(screen.getByText("ID: ben-oak")).toBeTruthy();
    await press("Create agent", await dialog());
    await waitFor(() => expect(close).toHaveBeenCalled());
    expect(posts()).toEqual([
      {
        id: "ben-oak",
        name: "Ben Oak",
        kind: "ai",
        role: "worker",
        provider: "claude",
        projects: ["shop"],
        reports_to: "mika",
      },
    ]);
    expect(screen.queryByText("pk_once")).toBeNull();
  });

  it("is told which programs are missing or offline, and can have them all the same", async () => {
    await open(plant(machine("vm-1", ["claude"]), machine("vm-2", ["codex"], 900)));
    const codex = (await program(/Codex/)).closest("label");
    await waitFor(() => expect(codex?.textContent).toContain("On vm-2, offline"));
    expect((await program(/Gemini/)).closest("label")?.textContent).toContain("Missing on all machines");
  });

  it("that runs on its own gets its passkey shown once", async () => {
    const { close, posts } = await open({});
    fireEvent.click(await program(/Runs on its own/));
    write("Name", "Ben", await dialog());
    await press("Create agent", await dialog());
    expect(await screen.findByText("pk_once")).toBeTruthy();
    expect(posts()).toMatchObject([{ id: "ben", role: "worker" }]);
    await press("Done");
    expect(close).toHaveBeenCalled();
  });

  it("reports to nobody who is deactivated", async () => {
    const off = { ...mika, agent_id: "old", name: "Old hand", status: "inactive" as const };
    await open({ "GET /agents": { agents: [mika, off, ada] } });
    const select = await screen.findByLabelText<HTMLSelectElement>("Reports to");
    await waitFor(() => expect([...select.options].map((each) => each.text)).toEqual(["None", "Mika"]));
  });

  it("that is refused leaves what was typed", async () => {
    await open({ "POST /agents": NO("There is a ben already.") });
    fireEvent.click(await program(/Command/));
    write("Name", "Ben", await dialog());
    write("Role description", "You saw.", await dialog());
    await press("Create agent", await dialog());
    await refusedWith("There is a ben already.");
    expect([value("Name"), value("Role description")]).toEqual(["Ben", "You saw."]);
  });
});

describe("a provider", () => {
  it("is listed with its machines and agents; one that is needed and missing comes first", async () => {
    const team = [
      { ...ada, provider: "claude" },
      { ...ada, agent_id: "kai", name: "Kai", provider: "aider" },
      { ...ada, agent_id: "old", name: "Old hand", provider: "gemini", status: "inactive" as const },
    ];
    const machines = plant(machine("vm-1", ["claude", "command"]), machine("vm-2", ["codex"], 900));
    serve({ ...ANSWERS, ...machines, "GET /agents": { agents: team } });
    await at("providers");
    const row = (name: string) => screen.getByText(name).closest("li")?.textContent;
    await screen.findByText("Claude Code");
    expect(row("aider")).toContain("Missing on all machines");
    expect(row("aider")).toContain("Kai");
    expect(row("Claude Code")).toMatch(/Installed on vm-1.*Ada/);
    expect(row("Codex")).toMatch(/On vm-2, offline.*No agent uses it/);
    const names = screen.getAllByRole("listitem").map((each) => each.textContent ?? "");
    expect(names.findIndex((each) => each.startsWith("aider"))).toBeLessThan(
      names.findIndex((each) => each.startsWith("Claude Code")),
    );
    expect(screen.queryByText(/Gemini/)).toBeNull();
    expect(screen.getByRole("link", { name: /Kai/ }).getAttribute("href")).toContain("agent=kai");
  });
});

describe("an agent", () => {
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

  it("is for no archived project, unless there is no other", async () => {
    const attic = { ...shop, id: "attic", project_id: "attic", name: "Attic", status: "archived" };
    serve({ ...ANSWERS, "GET /projects": { projects: [attic, shop] } });
    await at("keys");
    await screen.findByText("Night shift");
    expect(screen.getByLabelText<HTMLSelectElement>("Project").value).toBe("shop");
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
  it("has a name and a directory; worktrees and a budget are among the rest, and its first agent comes next", async () => {
    const asked = serve({ ...ANSWERS, "POST /projects": { project_id: "corner-house" } });
    const { href } = await at("projects", "&q=new");
    write("Name", "Corner house", await dialog());
    write("Directory", "/srv/house", await dialog());
    expect(screen.getByText("More options").closest("details")?.open).toBe(false);
    fireEvent.click(screen.getByRole("checkbox", { name: /worktree/ }));
    write("Budget per day (USD)", "5", await dialog());
    expect(screen.getByText("ID: corner-house")).toBeTruthy();
    fireEvent.keyDown(screen.getByLabelText("Name"), { key: "Enter", ctrlKey: true });
    await waitFor(() => expect(href()).toBe("/p/corner-house"));
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({
      id: "corner-house",
      name: "Corner house",
      working_directory: "/srv/house",
      description: "",
      settings: { isolation: "worktree", budget_per_day: "5" },
    });
  });

  it("is told at once that a directory is not absolute, and on which machine it must be", async () => {
    serve({ ...ANSWERS, ...plant(machine("vm-1", [])) });
    await at("projects", "&q=new");
    write("Name", "House", await dialog());
    write("Directory", "house", await dialog());
    expect((await within(await dialog()).findByRole("alert")).textContent).toContain("not an absolute path");
    expect(await screen.findByText(/on the machine that starts agents \(vm-1\)/)).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Create project" }).disabled).toBe(true);
  });

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
