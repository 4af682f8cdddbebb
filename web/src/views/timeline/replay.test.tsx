import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Event } from "@/api/model";
import { chooseLanguage } from "@/i18n";

import { Replay } from "./replay";

const at = (kind: string, data: Record<string, unknown>, second: number) =>
  ({ kind, data, task_id: "a", actor_id: "ada", sequence: second, at: new Date(second * 1000).toISOString() }) as Event;
const EVENTS = [
  at("task.created", { title: "Saw", status: "todo" }, 1),
  at("task.started", { from: "todo", to: "in_progress" }, 2),
  at("task.completed", { from: "in_progress", to: "completed" }, 3),
];

afterEach(cleanup);

function shown() {
  chooseLanguage("en");
  const then = vi.fn();
  render(<Replay events={EVENTS} titles={new Map([["a", "Saw"]])} onThen={then} onClose={() => undefined} />);
  const holds = (column: string) => within(screen.getByRole("region", { name: column })).queryByText("Saw") !== null;
  return { then, holds };
}

describe("the way back in time", () => {
  it("begins at now, and each step back takes one change back", async () => {
    const { holds, then } = shown();
    expect(holds("Completed")).toBe(true);
    await userEvent.click(screen.getByRole("button", { name: "Previous change" }));
    expect(holds("Completed")).toBe(false);
    expect(holds("In progress")).toBe(true);
    expect(then).toHaveBeenLastCalledWith(2000);
  });

  it("plays from the beginning until it is at now again, and then waits", () => {
    vi.useFakeTimers();
    try {
      const { holds } = shown();
      fireEvent.click(screen.getByRole("button", { name: "Play" }));
      expect(holds("Completed")).toBe(false);
      act(() => vi.advanceTimersByTime(1300));
      expect(holds("In progress")).toBe(true);
      act(() => vi.advanceTimersByTime(60_000));
      expect(holds("Completed")).toBe(true);
      expect(screen.getByRole("button", { name: "Play" })).toBeTruthy();
    } finally {
      vi.useRealTimers();
    }
  });
});
