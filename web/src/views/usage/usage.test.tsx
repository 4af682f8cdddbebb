import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, LATER, sums } from "@/example";
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
