import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Panel } from "@/views/chat/panel";

interface Call {
  verb: string;
  body: { viewer_id?: string; seen?: number };
  keepalive: boolean;
  answer: () => void;
}

let calls: Call[] = [];
const between = { projectId: "prj", agentId: "clerk" };

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const verb = request.url.split("/").at(-1) ?? "";
    const body = (await request.json()) as Call["body"];
    const status = { state: "connecting", explanation: "" };
    const answer = { viewer_id: "vwr_1", heartbeat_seconds: 15, status };
    return new Promise((resolve) => {
      calls.push({ verb, body, keepalive: request.keepalive, answer: () => resolve(Response.json(answer)) });
    });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const said = () => calls.map(({ verb, body }) => [verb, body.viewer_id]);

async function answered(place: number): Promise<void> {
  calls[place]?.answer();
  await settle();
}

describe("an open panel", () => {
  it("tells the server again and again, always as the same viewer", async () => {
    const told = vi.fn();
    const panel = new Panel(between, told);
    panel.show();
    await settle();
    await answered(0);
    expect(told).toHaveBeenCalledWith({ state: "connecting", explanation: "" });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(said()).toEqual([
      ["open", undefined],
      ["open", "vwr_1"],
    ]);
  });

  it("that is left while it opens is closed after it has opened, and by its own id only", async () => {
    const panel = new Panel(between, vi.fn());
    panel.show();
    await settle();
    panel.leave();
    await settle();
    expect(said()).toEqual([["open", undefined]]);
    await answered(0);
    expect(said()).toEqual([
      ["open", undefined],
      ["close", "vwr_1"],
    ]);
    expect(calls[1]?.keepalive).toBe(true);
  });

  it("that never opened closes nothing: the panels of other tabs stay", async () => {
    const panel = new Panel(between, vi.fn());
    panel.leave();
    await settle();
    expect(said()).toEqual([]);
  });

  it("out of sight says nothing more, and is there at once when it is looked at again", async () => {
    const panel = new Panel(between, vi.fn());
    panel.show();
    await settle();
    await answered(0);
    panel.hide();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(1);
    panel.show();
    await settle();
    expect(calls).toHaveLength(2);
  });

  it("tells at once what was seen, and an older message not again", async () => {
    const panel = new Panel(between, vi.fn());
    panel.show();
    await settle();
    await answered(0);
    panel.see(7);
    await settle();
    await answered(1);
    panel.see(6);
    await settle();
    expect(calls.map((each) => each.body.seen)).toEqual([0, 7]);
  });
});
