import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT, LATER, sums } from "@/example";
import { chooseLanguage } from "@/i18n";
import { refusal, serve, show } from "@/testkit";
import { Usage } from "@/views/usage";

const usage = () => show(<Usage />, "/p/shop/usage", "/p/$projectId/usage");
const spent = sums({ launches: 2, input_tokens: 12_000, output_tokens: 345, cost_usd: 1.5 });
const used = {
  since: "2026-01-01",
  until: "2026-01-02",
  by: ["day"],
  totals: spent,
  rows: [{ ...spent, day: "2026-01-02", agent_id: "ada" }],
  agent_budgets: [],
  task_budgets: [],
  budgets: [
    {
      project_id: "shop",
      name: "Corner shop",
      budget_per_day: 2,
      spent_today: 1.5,
      tokens_per_day: 20_000,
      tokens_today: 12_345,
      used_up: false,
      day_ends_at: LATER,
    },
  ],
};

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("usage", () => {
  it("tells money, tokens, budget, and who used most", async () => {
    serve({ ...ANSWERS, "GET /usage": used });
    await usage();
    expect((await screen.findAllByText("$1.50")).length).toBeGreaterThan(0);
    expect(screen.getAllByText("12.3K tokens · 2 launches").length).toBeGreaterThan(0);
    expect(await screen.findByText("$1.50 of $2.00")).toBeTruthy();
    const meter = (name: string) => screen.getByRole("meter", { name: `Corner shop: ${name}` });
    expect(meter("$1.50 of $2.00").getAttribute("aria-valuenow")).toBe("75");
    expect(meter("12,345 of 20,000 tokens").getAttribute("aria-valuenow")).toBe("62");
    expect(await screen.findByText("Ada")).toBeTruthy();
  });

  it("names once what has a budget in money and one in tokens", async () => {
    const task = { task_id: "t1", title: "Build", budget_usd: 2, spent_usd: 1, budget_tokens: 100, spent_tokens: 75 };
    serve({ ...ANSWERS, "GET /usage": { ...used, task_budgets: [{ ...task, used_up: false }] } });
    await usage();
    expect(await screen.findAllByText("Build")).toHaveLength(1);
    expect(screen.getAllByText("Corner shop", { selector: "li span" })).toHaveLength(1);
    expect(screen.getByText("75 of 100 tokens")).toBeTruthy();
    expect(screen.getByRole("meter", { name: "Build: $1.00 of $2.00" }).getAttribute("aria-valuenow")).toBe("50");
  });

  it("is asked anew for another period, and for every project", async () => {
    const asked = serve({ ...ANSWERS, "GET /usage": used });
    await usage();
    await screen.findAllByText("$1.50");
    fireEvent.click(screen.getByRole("radio", { name: /Last 30 days/ }));
    await waitFor(() => expect(asked.some((each) => /days=30.*by=day/.test(each.query))).toBe(true));
    expect(asked.filter((each) => each.path === "/usage").every((each) => each.query.includes("shop"))).toBe(true);
    fireEvent.change(screen.getByLabelText("Scope", { selector: "select" }), { target: { value: "all" } });
    await waitFor(() =>
      expect(asked.some((each) => each.path === "/usage" && !each.query.includes("shop"))).toBe(true),
    );
  });

  it("does not call nothing free: what has no price is said to have none", async () => {
    const unpriced = sums({ launches: 1, input_tokens: 10, without_price: 1 });
    serve({ ...ANSWERS, "GET /usage": { ...used, totals: unpriced, rows: [] } });
    await usage();
    expect((await screen.findAllByText("price unknown")).length).toBeGreaterThan(0);
    expect(await screen.findByText(/^1 launch has no known price/)).toBeTruthy();
  });

  it("says what the server says where it cannot be read", async () => {
    serve({ ...ANSWERS, "GET /usage": refusal(403, "permissionDenied", "Not your project.", "Ask an owner.") });
    await usage();
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Not your project.");
    expect(alert.textContent).toContain("Ask an owner.");
  });
});

const open = (length: string, used: number, limit: number | null) => ({
  ...{ length, used, limit, learnt: false, ends_at: null, runs_dry_at: null, reserve_kept: false, spare_at: null },
});
const quota = (account: string, providers: string[]) => ({
  ...{ account, providers, agents: [], limit_5h: null, limit_day: null, limit_week: null },
  ...{ reserve: 0, low_priority: "any", usable_at: null, windows: [open("5h", 1_900, null)] },
});

describe("the quotas", () => {
  it("name the providers of an account, unless its name is that of its provider", async () => {
    const quotas = [quota("claude", ["claude"]), quota("second", ["claude"]), quota("work", ["claude", "codex"])];
    serve({ ...ANSWERS, "GET /quotas": { quotas } });
    await usage();
    await screen.findByRole("heading", { name: "Quota of accounts" });
    const names = screen.getAllByRole("button", { name: /^Edit the quota of/ }).map((each) => each.ariaLabel);
    expect(names).toEqual([
      "Edit the quota of claude",
      "Edit the quota of second (claude)",
      "Edit the quota of work (claude, codex)",
    ]);
    expect(screen.getByText("(claude, codex)")).toBeTruthy();
    expect(screen.getAllByText("1,900 tokens")).toHaveLength(3);
  });
});

const range = (low: number, middle: number, high: number) => ({ low, middle, high });
const computed = {
  computed_at: AT,
  max_concurrent: 3,
  open_tasks: 2,
  runs: 20,
  runs_completed: 19,
  hours: range(1, 2, 3),
  dollars: range(0.5, 1, 1.25),
  tokens: range(10_000, 20_000, 30_000),
  assumed_minutes: 12,
  agents: { ada: { hours: range(1, 1, 1), learnt_from: 0 }, bo: { hours: range(1, 1, 1), learnt_from: 4 } },
  waiting_hours: {},
  unfinished: [{ title: "Roof", status: "blocked", reason: "No wood.", runs: 1 }],
  accounts: [{ account: "second", window: "5h", runs_dry_at: LATER }],
};
const state = (state: string, more = {}) => ({
  state,
  max_concurrent: 3,
  started_at: AT,
  ended_at: null,
  reason: null,
  forecast: null,
  ...more,
});
const FORECAST = "/projects/shop/forecast";

describe("the forecast", () => {
  it("is computed when somebody asks, with as many processes as they choose", async () => {
    const asked = serve({ ...ANSWERS, [`POST ${FORECAST}`]: state("running") });
    await usage();
    fireEvent.change(await screen.findByLabelText("Processes at a time"), { target: { value: "6" } });
    fireEvent.click(screen.getByRole("button", { name: "Compute forecast" }));
    expect(await screen.findByText("Computing…")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Compute forecast" }).disabled).toBe(true);
    const sent = asked.find((each) => each.method === "POST" && each.path === FORECAST);
    expect(sent?.body).toEqual({ max_concurrent: 6, refresh: false });
  });

  it("tells the ranges, what they cover, whose times are assumed, and which account runs dry", async () => {
    const asked = serve({
      ...ANSWERS,
      "GET /quotas": { quotas: [quota("second", ["claude"])] },
      [`GET ${FORECAST}`]: state("done", { forecast: computed }),
      [`POST ${FORECAST}`]: state("running", { forecast: computed }),
    });
    await usage();
    expect(await screen.findByText("$0.50 to $1.25")).toBeTruthy();
    expect(screen.getByText("1 hr to 3 hr")).toBeTruthy();
    expect(screen.getByText("10K to 30K")).toBeTruthy();
    expect(screen.getByText(/^2 open tasks\. So it was in 90% of 20 simulated runs/)).toBeTruthy();
    expect(await screen.findByText("Not enough history of Ada: 12 minutes are assumed for each task.")).toBeTruthy();
    expect(screen.getByText(/^second \(claude\) \(5 hours\): at this rate used up/)).toBeTruthy();
    expect(screen.getByText("Roof (1 run): No wood.")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Compute again" }));
    expect(await screen.findByText("Computing…")).toBeTruthy();
    expect(asked.find((each) => each.method === "POST")?.body).toEqual({ max_concurrent: 3, refresh: true });
    expect(screen.getByText("$0.50 to $1.25")).toBeTruthy();
  });

  it("says why it failed, and still shows the one before", async () => {
    const failed = state("failed", {
      reason: "It took longer than 300 seconds.",
      max_concurrent: 50,
      forecast: computed,
    });
    serve({ ...ANSWERS, [`GET ${FORECAST}`]: failed });
    await usage();
    expect((await screen.findByRole("alert")).textContent).toContain("It took longer than 300 seconds.");
    expect(screen.getByText(/with 3 processes at a time\./)).toBeTruthy();
    expect(screen.getByText("$0.50 to $1.25")).toBeTruthy();
  });

  it("of a project without open tasks, without history and without prices says so", async () => {
    const nothing = { ...computed, open_tasks: 0, runs: 0, hours: null, dollars: null, tokens: null };
    const answers = { ...ANSWERS, [`GET ${FORECAST}`]: state("done", { forecast: nothing }) };
    serve(answers);
    await usage();
    expect(await screen.findByText(/^There are no open tasks/)).toBeTruthy();
    cleanup();
    const agents = { ada: computed.agents.ada };
    const found = { ...computed, runs_completed: 0, dollars: range(0, 0, 0), agents };
    serve({ ...answers, [`GET ${FORECAST}`]: state("done", { forecast: found }) });
    await usage();
    expect(await screen.findByText(/^Not enough history: no tasks are recorded yet\. 12 minutes/)).toBeTruthy();
    expect(screen.getByText("price unknown")).toBeTruthy();
    expect(screen.getByText(/^Not all tasks are completed in any run/)).toBeTruthy();
  });
});
