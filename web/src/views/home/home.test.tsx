import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, decision, member, overview, shop } from "@/example";
import { chooseLanguage } from "@/i18n";
import { choose, press, refusal, serve, show, write } from "@/testkit";
import { Home } from "@/views/home";

const garden = { ...shop, project_id: "garden", name: "Garden" };
const PROJECTS = { projects: [shop, garden] };

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the overview", () => {
  it("shows an agent of two projects once, with both inside", async () => {
    const team = [
      member({ agent_id: "ada", name: "Ada", state: "working", task_id: "t1", task_title: "Show prices" }),
      member({ agent_id: "ada", name: "Ada", project_id: "garden" }),
      member({ agent_id: "ben", name: "Ben" }),
    ];
    serve({ ...ANSWERS, "GET /projects": PROJECTS, "GET /overview": { ...overview, team } });
    await show(<Home />);
    const panel = within((await screen.findByRole("heading", { name: "Team" })).closest("section") as HTMLElement);
    expect(panel.getAllByText("Ada")).toHaveLength(1);
    const card = within(panel.getByText("Ada").closest("li") as HTMLElement);
    expect(card.getByText("Corner shop")).toBeTruthy();
    expect(card.getByText("Garden")).toBeTruthy();
    expect(card.getByText("Show prices")).toBeTruthy();
    expect([card.getByText("Working"), card.getByText("Idle")]).toHaveLength(2);
    await press("1 idle");
    expect(panel.getByText(/^Corner shop · Worker/)).toBeTruthy(); // Ben works in one
  });

  it("tells what an agent does, and its newest sign, be it a call or output", async () => {
    const long = new Date(Date.now() - 720_000).toISOString();
    const doing = { kind: "printed" as const, tool: null, text: "12 passed", since: new Date().toISOString() };
    const runs = { state: "working" as const, launch_id: "lau_1", last_call_at: long };
    const team = [member({ agent_id: "ada", name: "Ada", ...runs, doing })];
    serve({ ...ANSWERS, "GET /overview": { ...overview, team } });
    await show(<Home />);
    expect(await screen.findByText("12 passed")).toBeTruthy();
    expect(screen.getByText(/Last output/)).toBeTruthy();
    expect(screen.queryByText(/12 min/)).toBeNull();
  });

  it("shows who works before who is held, and folds who is idle into one row", async () => {
    const many = [...Array(44).keys()].map((n) => member({ agent_id: `i${n}`, name: `Idler ${n}` }));
    const held = member({ agent_id: "ben", name: "Ben", state: "held", explanation: "It waits." });
    const works = member({ agent_id: "ada", name: "Ada", state: "working" });
    serve({ ...ANSWERS, "GET /overview": { ...overview, team: [...many, held, works] } });
    await show(<Home />);
    const panel = within((await screen.findByRole("heading", { name: "Team" })).closest("section") as HTMLElement);
    const cards = () => panel.getAllByRole("listitem").map((each) => each.querySelector("p")?.textContent);
    expect(cards()).toEqual(["Ada", "Ben"]);
    const row = panel.getByRole("button", { name: "44 idle" });
    expect(row.getAttribute("aria-expanded")).toBe("false");
    await press("44 idle");
    expect(cards()).toHaveLength(46);
  });

  it("shows of many agents those that are silent, and some that are held, before the rest; and how many do what", async () => {
    const at = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
    const works = (name: string, seconds: number) =>
      member({ agent_id: name, name, state: "working", last_call_at: at(seconds) });
    const team = [
      ...[...Array(40).keys()].map((n) => works(`W${n}`, 5)),
      works("Silent", 600),
      ...[...Array(6).keys()].map((n) => member({ agent_id: `w${n}`, name: `Waits ${n}`, state: "waiting" })),
      member({ agent_id: "cold", name: "Cold", state: "cooling_down" }),
      member({ agent_id: "stuck", name: "Stuck", state: "held" }),
      ...[...Array(11).keys()].map((n) => member({ agent_id: `i${n}`, name: `Idler ${n}` })),
    ];
    serve({ ...ANSWERS, "GET /overview": { ...overview, team } });
    await show(<Home />);
    const panel = within((await screen.findByRole("heading", { name: "Team" })).closest("section") as HTMLElement);
    const cards = () => panel.getAllByRole("listitem").map((each) => each.querySelector("p")?.textContent);
    const rest = [0, 1, 2, 3, 4, 5, 6].map((n) => `W${n}`);
    expect(cards()).toEqual(["Silent", ...rest, "Stuck", "Cold", "Waits 0", "Waits 1"]);
    expect(panel.getByText("41 working · 8 held or waiting · 11 idle")).toBeTruthy();
    await press("Show 37 more");
    expect(cards()).toHaveLength(49);
  });

  it("tells why an agent does not run", async () => {
    serve(ANSWERS);
    await show(<Home />);
    await press("1 idle");
    await press("Why?");
    const dialog = within(await screen.findByRole("dialog"));
    expect(await dialog.findByText(decision.summary)).toBeTruthy();
    expect(dialog.queryByText(/toryo /)).toBeNull();
    expect(dialog.getByText("no_work")).toBeTruthy();
  });

  it("keeps the reason for a rejection when the server refuses it", async () => {
    serve({ ...ANSWERS, "POST /tasks/t2/reject": refusal(409, "conflict", "It is approved already.", "Cancel it.") });
    await show(<Home />);
    await choose("More actions", /^Reject/);
    const dialog = await screen.findByRole("dialog");
    write("Reason", "Too dear", dialog);
    await press("Reject", dialog);
    const alert = await within(dialog).findByRole("alert");
    expect(alert.textContent).toContain("It is approved already.");
    expect(alert.textContent).toContain("Cancel it.");
    expect(within(dialog).getByLabelText<HTMLTextAreaElement>("Reason").value).toBe("Too dear");
  });

  it("is there when an older server says less of itself", async () => {
    const older = { coordinator_id: "c1", away: false, seen_at: "2026-01-01T00:00:00Z", running: 0, providers: [] };
    const plant = { ...overview.plant, database_bytes: undefined, coordinators: [older] };
    serve({ ...ANSWERS, "GET /overview": { ...overview, plant } });
    await show(<Home />);
    expect(await screen.findByText("sqlite")).toBeTruthy();
    expect(screen.getByText("c1")).toBeTruthy();
  });

  it("says what the server says where it cannot be read, and asks again", async () => {
    let answer: object = refusal(503, "unavailable", "The database is away.", "Try again in a moment.");
    serve({ ...ANSWERS, "GET /overview": () => answer });
    await show(<Home />);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Try again in a moment.");
    answer = overview;
    await press("Retry");
    await waitFor(() => expect(screen.getByText("Buy a server")).toBeTruthy());
  });
});
