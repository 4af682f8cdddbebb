import { act, cleanup, render } from "@testing-library/react";
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { streams } from "@/api/following";
import { useStream } from "@/app/stream";

let tell: (event: object) => void = () => undefined;
let asked = "";
let happen: (what: "open" | "error") => void = () => undefined;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(streams, "begin").mockImplementation((address) => {
    const stream = Object.assign(new EventTarget(), { close: () => undefined });
    asked = address;
    happen = (what) => stream.dispatchEvent(new Event(what));
    tell = (event) => stream.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(event) }));
    return stream;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page that shows a board and counts its reads. The first read takes this many milliseconds; then the others. */
function page(first: number, others = first) {
  const read = vi.fn(() => {
    const many = read.mock.calls.length;
    return new Promise((done) => setTimeout(() => done(many), many === 1 ? first : others));
  });
  function Page() {
    useStream(0, "olga");
    useQuery({ queryKey: ["board", "shop"], queryFn: read, staleTime: Infinity });
    return null;
  }
  const client = new QueryClient();
  render(
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>,
  );
  return Object.assign(read, { client });
}

const moved = (sequence: number) => ({ sequence, kind: "task.moved", project_id: "shop", task_id: `t${sequence}` });
const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds));

describe("the stream of events", () => {
  it("has what an event concerns read again at once", async () => {
    const read = page(5);
    await pass(10);
    tell(moved(1));
    await pass(20);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("has a thing read once for many events that come together", async () => {
    const read = page(5);
    await pass(10);
    for (let number = 1; number <= 50; number++) tell(moved(number));
    await pass(1000);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("has nothing read again before what was asked for has come, and the last event is never forgotten", async () => {
    const read = page(400);
    await pass(500);
    tell(moved(1));
    await pass(100);
    for (let number = 2; number <= 5; number++) tell(moved(number));
    await pass(200);
    expect(read).toHaveBeenCalledTimes(2);
    await pass(1000);
    expect(read).toHaveBeenCalledTimes(3);
  });

  it("has the board read again when somebody starts to work or ends", async () => {
    const read = page(5);
    await pass(10);
    tell({ sequence: 1, kind: "session.started", project_id: "shop", task_id: null });
    await pass(20);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("has boards read whole after a break: what one has may be another server's", async () => {
    const read = page(5);
    await pass(10);
    read.client.setQueryData(["board", "garden"], { tasks: [], last_event: 4 });
    act(() => happen("open"));
    expect(read.client.getQueryData(["board", "garden"])).toEqual({ tasks: [], last_event: 4 });
    act(() => happen("error"));
    await pass(1500);
    act(() => happen("open"));
    expect(read.client.getQueryData(["board", "garden"])).toEqual({ tasks: [], last_event: null });
    await pass(20);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("has a first answer that was on its way when something happened asked for once more", async () => {
    const read = page(400, 5);
    await pass(100);
    tell(moved(1));
    await pass(200);
    expect(read).toHaveBeenCalledTimes(1);
    await pass(300);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("begins with what happened since the page began to read", () => {
    function Page() {
      useStream(1000, "olga");
      return null;
    }
    render(
      <QueryClientProvider client={new QueryClient()}>
        <Page />
      </QueryClientProvider>,
    );
    expect(asked).toBe("/api/v1/events/stream?after=1000");
  });

  it("does not wait for ever for what hangs", async () => {
    const read = page(5, 60_000);
    await pass(10);
    tell(moved(1));
    await pass(100);
    tell(moved(2));
    await pass(5000);
    expect(read).toHaveBeenCalledTimes(3);
  });
});
