import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { queryClient } from "@/api/queries";
import { Attention, isQuiet } from "@/app/attention";
import { serve, show } from "@/testkit";

const need = (key: string, more: object = {}) => ({
  key,
  kind: "blocked",
  title: `Blocked: ${key}`,
  text: "",
  since: "2027-01-15T08:00:00Z",
  actions: [],
  request: null,
  project_id: "prj_1",
  task_id: "tsk_1",
  agent_id: "anna",
  path: "/t/tsk_1",
  ...more,
});
const SETTINGS = {
  possible: true,
  muted: ["review"],
  quiet_hours: null,
  time_zone: "UTC",
  this_browser: false,
  browsers: 0,
};

/** A browser that allows notifications; what it shows and closes. */
function browser({ looking = false } = {}) {
  const told: string[] = [];
  const closed: string[] = [];
  class Shown extends EventTarget {
    static permission = "granted";
    constructor(title: string) {
      super();
      told.push(title);
    }
  }
  vi.stubGlobal("Notification", Shown);
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(looking ? "visible" : "hidden");
  const there = ["old", "test"].map((tag) => ({
    tag,
    data: { key: tag },
    close: () => closed.push(tag),
  }));
  const registration = { getNotifications: () => Promise.resolve(there) };
  const worker = Object.assign(new EventTarget(), { getRegistration: () => Promise.resolve(registration) });
  Object.defineProperty(navigator, "serviceWorker", { value: worker, configurable: true });
  return { told, closed };
}

afterEach(() => {
  cleanup();
  Reflect.deleteProperty(navigator, "serviceWorker");
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  queryClient.clear();
});

async function later(waiting: object[], settings: object = SETTINGS) {
  let now: object[] = [need("old")];
  serve({ "GET /needs-you": () => ({ items: now }), "GET /notification-settings": settings });
  const shown = await show(
    <>
      <Attention />
      <p>page</p>
    </>,
  );
  await screen.findByText("page");
  await waitFor(() => expect(shown.client.getQueryData(["overview", null, "needs"])).toHaveLength(1));
  await waitFor(() => expect(shown.client.getQueryData(["notification-settings"])).toBeDefined());
  now = waiting;
  await shown.client.invalidateQueries({ queryKey: ["overview"] });
  await waitFor(() => expect(shown.client.getQueryData(["overview", null, "needs"])).toHaveLength(waiting.length));
}

describe("a page that nobody looks at", () => {
  it("tells what is new, and not what was there or is muted", async () => {
    const { told } = browser();
    await later([need("old"), need("new"), need("muted", { kind: "review" })]);
    await waitFor(() => expect(told).toEqual(["Blocked: new"]));
  });

  it("tells nothing where a push tells it", async () => {
    const { told } = browser();
    vi.stubGlobal("isSecureContext", false);
    await later([need("old"), need("new")], { ...SETTINGS, this_browser: true });
    expect(told).toEqual([]);
  });

  it("closes notifications of what is settled", async () => {
    const { closed } = browser();
    await later([need("new"), need("newer")]);
    await waitFor(() => expect(closed).toEqual(["old"]));
  });
});

it("tells nothing to somebody who looks at the page", async () => {
  const { told } = browser({ looking: true });
  await later([need("old"), need("new")]);
  expect(told).toEqual([]);
});

it("knows the quiet hours of the person's time zone, over midnight", () => {
  const at = (hour: number) => new Date(Date.UTC(2027, 0, 15, hour));
  const hours = { quiet_hours: { begin: "22:00", end: "07:00" }, time_zone: "Asia/Tokyo" };
  expect([12, 13, 21, 22].map((hour) => isQuiet(hours, at(hour)))).toEqual([false, true, true, false]);
  expect(isQuiet({ ...hours, quiet_hours: null }, at(13))).toBe(false);
});
