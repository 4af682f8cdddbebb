import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT } from "@/example";
import { chooseLanguage } from "@/i18n";
import { serve, show } from "@/testkit";
import { Settings } from "@/views/settings";

const at = (tab: string) => show(<Settings />, `/settings?tab=${tab}`, "/settings");

beforeEach(() => {
  localStorage.clear();
  chooseLanguage("en");
});
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
