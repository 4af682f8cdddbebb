import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Background } from "./background";

class FakeWorker {
  static made: FakeWorker[] = [];
  asked: string[] = [];
  ended = false;
  onmessage: ((event: { data: string | null }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    FakeWorker.made.push(this);
  }
  postMessage(question: string) {
    this.asked.push(question);
  }
  terminate() {
    this.ended = true;
  }
}

const made = () => new Background<string>(() => new FakeWorker() as unknown as Worker);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("Worker", FakeWorker);
  FakeWorker.made = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("work in the background", () => {
  it("goes to one worker, one question after the other, and the same question goes once", async () => {
    const background = made();
    const answers = [background.ask("a"), background.ask("b"), background.ask("a")];
    const [worker] = FakeWorker.made;
    expect(worker?.asked).toEqual(["a"]);
    worker?.onmessage?.({ data: "A" });
    expect(worker?.asked).toEqual(["a", "b"]);
    worker?.onmessage?.({ data: "B" });
    expect(await Promise.all(answers)).toEqual(["A", "B", "A"]);
    expect(background.answer("a")).toBe("A");
  });

  it("that takes too long is ended and has no answer, and what waits behind it gets a worker of its own", async () => {
    const background = made();
    const slow = background.ask("made to take long");
    const next = background.ask("b");
    vi.advanceTimersByTime(5_000);
    expect(await slow).toBeNull();
    expect(FakeWorker.made[0]?.ended).toBe(true);
    FakeWorker.made[1]?.onmessage?.({ data: "B" });
    expect(await next).toBe("B");
    expect(background.answer("made to take long")).toBeNull();
  });

  it("that breaks has no answer", async () => {
    const background = made();
    const broken = background.ask("a");
    FakeWorker.made[0]?.onerror?.();
    expect(await broken).toBeNull();
  });
});
