import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Doing } from "@/api/model";
import { chooseLanguage } from "@/i18n";
import { DoingNow } from "@/ui";

const AT = "2026-01-01T00:00:00Z";
const PYTEST: Doing = { kind: "called", tool: "Bash", text: "pytest -q", since: AT };

beforeEach(() => void vi.useFakeTimers({ now: Date.parse(AT) }));
afterEach(() => {
  cleanup();
  act(() => chooseLanguage("en"));
  vi.useRealTimers();
});

const pass = (seconds: number) => act(() => vi.advanceTimersByTime(seconds * 1000));
const line = () => document.querySelector("[data-doing]")?.textContent ?? "";

describe("what an agent does now", () => {
  it("is the call, and since when", () => {
    render(<DoingNow doing={PYTEST} />);
    pass(12);
    expect(line()).toMatch(/Bash pytest -q· 12 sec/);
    expect(document.querySelector("[data-doing=called]")).toBeTruthy();
  });

  it("says after 90 seconds that nothing was heard since", () => {
    render(<DoingNow doing={PYTEST} />);
    pass(89);
    expect(line()).not.toMatch(/silent/);
    pass(61);
    expect(line()).toMatch(/pytest -q· silent for 2 min/);
    expect(document.querySelector("[data-doing=silent]")).toBeTruthy();
    act(() => chooseLanguage("ja"));
    expect(line()).toMatch(/応答なし/);
  });

  it("is not silent where another sign is newer", () => {
    render(<DoingNow doing={PYTEST} heard="2026-01-01T00:01:30Z" />);
    pass(120);
    expect(line()).not.toMatch(/silent/);
  });

  it("may wait for a person without being called silent", () => {
    render(<DoingNow doing={PYTEST} mayWait />);
    pass(600);
    expect(line()).not.toMatch(/silent/);
  });

  it("is nothing where nothing is known", () => {
    const { container } = render(<DoingNow doing={null} />);
    expect(container.textContent).toBe("");
    expect(screen.queryByText(/sec/)).toBeNull();
  });
});
