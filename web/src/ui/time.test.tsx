import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { chooseLanguage } from "@/i18n";
import { Ago, Countdown, Elapsed, runTime } from "@/ui/time";

const AT = "2026-01-01T00:00:00Z";

beforeEach(() => void vi.useFakeTimers({ now: Date.parse(AT) }));
afterEach(() => {
  cleanup();
  act(() => chooseLanguage("en"));
  vi.useRealTimers();
});

const pass = (seconds: number) => act(() => vi.advanceTimersByTime(seconds * 1000));

describe("instants", () => {
  it("grow by themselves", () => {
    render(<Ago at={AT} />);
    expect(screen.getByText("just now")).toBeTruthy();
    pass(90);
    expect(screen.getByText(/1 min/)).toBeTruthy();
  });

  it("count down, and up", () => {
    render(<Countdown until="2026-01-01T00:01:00Z" />);
    render(<Elapsed from={AT} />);
    pass(50);
    expect(screen.getByText(/10 sec/)).toBeTruthy();
    expect(screen.getByText(/50 sec/)).toBeTruthy();
  });

  it("say in how long, unless clocks may only be apart", () => {
    render(<Ago at="2026-01-01T02:00:00Z" />);
    expect(screen.getByText(/^in 2 hr/)).toBeTruthy();
    cleanup();
    render(<Ago at="2026-01-01T00:00:50Z" />);
    expect(screen.getByText("just now")).toBeTruthy();
  });

  it("are said in the language that is chosen meanwhile", () => {
    render(<Ago at={AT} />);
    pass(90);
    act(() => chooseLanguage("ja"));
    expect(screen.getByText(/1 ?分/)).toBeTruthy();
  });

  it("that are none are shown as nothing", () => {
    const { container } = render(<Ago at={null} />);
    expect(container.textContent).toBe("");
  });
});

it.each([
  [0, "<0.1 sec"],
  [40, "<0.1 sec"],
  [420, "0.4 sec"],
  [9_960, "10 sec"],
  [61_000, "1 min"],
])("what ran for %i ms is never said to have taken no time", (milliseconds, words) => {
  expect(runTime(milliseconds, "en")).toBe(words);
});
