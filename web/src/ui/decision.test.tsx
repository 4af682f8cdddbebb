import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { DecisionCard } from "@/ui";
import type { Decision } from "@/api/model";

const decision: Decision = {
  project_id: "shop",
  purpose: "task",
  action: "start",
  reason: "has_in_progress_task",
  row: "13",
  rule: "The agent has a task in progress",
  explanation: "",
  summary: "It has a task in progress.",
  facts: {},
  task_id: null,
  since: null,
  until: null,
  seconds_left: null,
};
const shown = () => [...document.querySelectorAll("header span")].map((each) => each.textContent);

describe("a launch decision", () => {
  afterEach(cleanup);

  it("is a start where somebody can carry it out", () => {
    render(<DecisionCard decision={decision} />);
    expect(shown()).toContain("Start");
  });

  it.each([{ no_coordinator: "none" }, { held: "files_busy" }])(
    "is held where it cannot be carried out: %o",
    (facts) => {
      render(<DecisionCard decision={{ ...decision, facts }} />);
      expect(shown()).toContain("Hold");
      expect(shown()).not.toContain("Start");
    },
  );

  it("says its rule in words; row and code are for who unfolds the facts", () => {
    render(<DecisionCard decision={decision} />);
    expect(screen.getByText("The agent has a task in progress")).toBeTruthy();
    expect(screen.getByText("has_in_progress_task").closest("details")?.open).toBe(false);
    expect(screen.getByText("13").closest("details")?.open).toBe(false);
  });
});
