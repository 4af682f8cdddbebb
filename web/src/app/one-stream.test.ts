import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Browser, FakeChannel, FakeSource, newServer, server } from "@/app/fake-browser";
import { streams } from "@/api/following";
import { OneStream, type Liveness } from "@/app/one-stream";

function tab(browser: Browser | null, { last = 0, seen = true, watches = false, who = "olga" } = {}) {
  const shown = {
    seen,
    heard: [] as number[],
    showed: [] as string[],
    again: 0,
    state: "connecting" as Liveness,
    lost: 0,
  };
  const stream = new OneStream(
    who,
    last,
    {
      heard: (event) => shown.heard.push(event.sequence),
      showed: (sign) => shown.showed.push(sign.doing?.text ?? ""),
      again: () => shown.again++,
      became: (state) => (shown.state = state),
      lost: () => shown.lost++,
      wants: () => shown.seen || watches,
      seen: () => shown.seen,
    },
    browser?.around() ?? { locks: undefined, channel: undefined },
  );
  stream.start();
  return Object.assign(shown, {
    stream,
    look: (now: boolean) => {
      shown.seen = now;
      stream.looked();
    },
  });
}

const pass = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers();
  newServer();
  vi.spyOn(streams, "begin").mockImplementation((address) => new FakeSource(address));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the one stream of a browser", () => {
  it("is one for twenty tabs, and tells all of them", async () => {
    const browser = new Browser();
    const tabs = Array.from({ length: 20 }, () => tab(browser));
    await pass();
    server.happen(1);
    await pass();
    expect(server.open).toHaveLength(1);
    expect(tabs.map((each) => each.heard)).toEqual(tabs.map(() => [1]));
    expect(new Set(tabs.map((each) => each.state))).toEqual(new Set(["live"]));
  });

  it("shows all tabs what an agent does now", async () => {
    const browser = new Browser();
    const tabs = [tab(browser), tab(browser)];
    await pass();
    for (const each of server.open) each.sign("pytest -q");
    await pass();
    expect(tabs.map((each) => each.showed)).toEqual([["pytest -q"], ["pytest -q"]]);
  });

  it("goes on in another tab when its own is closed, and no event is lost or told twice", async () => {
    const browser = new Browser();
    const [first, ...others] = [tab(browser), tab(browser), tab(browser)];
    await pass();
    server.happen(1);
    await pass();
    first?.stream.stop();
    server.happen(2); // nobody listens at this moment
    await pass();
    server.happen(3);
    await pass();
    expect(server.open).toHaveLength(1);
    expect(others.map((each) => each.heard)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it("tells a tab that joins what has happened since that tab began to read", async () => {
    const browser = new Browser();
    tab(browser, { last: 5 });
    await pass();
    for (const each of [6, 7, 8]) server.happen(each);
    await pass();
    const late = tab(browser, { last: 6 });
    await pass();
    expect(late.heard).toEqual([7, 8]);
    expect(late.again).toBe(0);
  });

  it("begins again further back for a tab that knows less than the leader has kept", async () => {
    const browser = new Browser();
    for (const each of [1, 2, 3]) server.happen(each);
    const leader = tab(browser, { last: 3 });
    await pass();
    const behind = tab(browser, { last: 1 });
    await pass();
    server.happen(4);
    await pass();
    expect(behind.heard).toEqual([2, 3, 4]);
    expect(leader.heard).toEqual([4]);
    expect(server.open).toHaveLength(1);
  });

  it("has a tab that is far behind read everything again", async () => {
    const browser = new Browser();
    tab(browser, { last: 90_000 });
    await pass();
    const behind = tab(browser, { last: 1 });
    await pass();
    server.happen(90_001);
    await pass();
    expect(behind.again).toBe(1);
    expect(behind.heard).toEqual([90_001]);
  });

  it("needs none for a tab that nobody sees", async () => {
    tab(new Browser(), { seen: false });
    await pass(60_000);
    expect(server.streams).toEqual([]);
  });

  it("is handed over when its tab is no longer seen and another is", async () => {
    const browser = new Browser();
    const [leader, other] = [tab(browser), tab(browser)];
    await pass();
    const [before] = server.open;
    leader.look(false);
    await pass();
    server.happen(1);
    await pass();
    expect(server.open).toHaveLength(1);
    expect(server.open[0]).not.toBe(before);
    expect(other.heard).toEqual([1]);
  });

  it("is handed over once where several are seen", async () => {
    const browser = new Browser();
    const leader = tab(browser);
    await pass();
    const others = Array.from({ length: 5 }, () => tab(browser));
    await pass();
    leader.look(false);
    await pass();
    server.happen(1);
    await pass();
    expect(server.streams).toHaveLength(2);
    expect(others.map((each) => each.heard)).toEqual(others.map(() => [1]));
  });

  it("ends a while after nobody looks any more, and goes on where it stopped", async () => {
    const browser = new Browser();
    const [one, other] = [tab(browser), tab(browser)];
    await pass();
    server.happen(1);
    await pass();
    one.look(false);
    other.look(false);
    await pass(1000);
    expect(server.open).toHaveLength(1); // who comes back at once finds it as it was
    await pass(60_000);
    expect(server.open).toHaveLength(0);
    server.happen(2);
    other.look(true);
    await pass();
    expect(server.open).toHaveLength(1);
    expect(other.heard).toEqual([1, 2]);
  });

  it("is kept while nobody looks where a tab must know even so", async () => {
    const watching = tab(new Browser(), { watches: true });
    await pass();
    watching.look(false);
    await pass(600_000);
    server.happen(1);
    expect(watching.heard).toEqual([1]);
  });

  it("is taken over from a tab that hangs", async () => {
    const browser = new Browser();
    const leader = tab(browser);
    await pass();
    const other = tab(browser);
    await pass();
    const hangs = vi.spyOn(FakeChannel.prototype, "postMessage").mockImplementation(() => undefined);
    await pass(9000);
    hangs.mockRestore();
    leader.stream["say"] = () => undefined;
    await pass(11_000);
    server.happen(1);
    await pass();
    expect(server.open).toHaveLength(1);
    expect(other.heard).toEqual([1]);
  });

  it("says in every tab that the connection broke, and has all of them read again once it is back", async () => {
    const browser = new Browser();
    const tabs = [tab(browser), tab(browser)];
    await pass();
    server.open[0]?.dispatchEvent(new Event("error"));
    await pass();
    expect(tabs.map((each) => [each.state, each.lost])).toEqual([
      ["reconnecting", 1],
      ["reconnecting", 1],
    ]);
    await pass(1500);
    expect(tabs.map((each) => [each.state, each.again])).toEqual([
      ["live", 1],
      ["live", 1],
    ]);
  });

  it("is not called live while the server does not open it", async () => {
    const { dispatchEvent } = FakeSource.prototype;
    FakeSource.prototype.dispatchEvent = () => true;
    const waits = tab(new Browser());
    await pass(6000);
    FakeSource.prototype.dispatchEvent = dispatchEvent;
    expect(waits.state).toBe("reconnecting");
  });

  it("tells nobody what another person may see", async () => {
    const browser = new Browser();
    const [olga, nils] = [tab(browser, { who: "olga" }), tab(browser, { who: "nils" })];
    await pass();
    server.open[0]?.tell(1);
    await pass();
    expect(server.open).toHaveLength(2);
    expect([olga.heard, nils.heard]).toEqual([[1], []]);
  });

  it("is each seen tab's own where the browser has no locks", async () => {
    const [one, other] = [tab(null), tab(null)];
    await pass();
    server.happen(1);
    expect([one.heard, other.heard]).toEqual([[1], [1]]);
    other.look(false);
    await pass(60_000);
    expect(server.open).toHaveLength(1);
  });
});
