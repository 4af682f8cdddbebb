import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Form } from "@/ui";

afterEach(cleanup);

describe("a form", () => {
  function make({ disabled = false } = {}) {
    const [sent, more, outside] = [vi.fn(), vi.fn(), vi.fn()];
    render(
      <Form onSend={outside}>
        <Form onSend={sent} onSendMore={more}>
          <textarea aria-label="Text" />
          <button type="submit" disabled={disabled}>
            Send
          </button>
        </Form>
      </Form>,
    );
    const press = (how: object) => fireEvent.keyDown(screen.getByLabelText("Text"), { key: "Enter", ...how });
    return { sent, more, outside, press };
  }

  it.each([{ metaKey: true }, { ctrlKey: true }])("is sent from each of its fields by %o and Enter, alone", (how) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined); // a form in a form: as a dialog from a dialog
    const { sent, outside, press } = make();
    press(how);
    expect([sent.mock.calls.length, outside.mock.calls.length]).toEqual([1, 0]);
  });

  it("means something else with Shift, where it says so", () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { sent, more, press } = make();
    press({ ctrlKey: true, shiftKey: true });
    expect([sent.mock.calls.length, more.mock.calls.length]).toEqual([0, 1]);
  });

  it("is not sent while its button is disabled, or by Enter alone", () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { sent, press } = make({ disabled: true });
    press({ ctrlKey: true });
    press({});
    expect(sent).not.toHaveBeenCalled();
  });
});

/** Forms of their own, and why. */
const OWN: Record<string, string> = {
  "/src/ui/sent.tsx": "the form itself",
  "/src/views/review/remark.tsx": "Escape means something there, too",
  "/src/views/signin/password.tsx": "two fields of one line, which Enter sends",
  "/src/views/timeline/toolbar.tsx": "a search in one line",
};

it("every form is sent so, or is listed with a reason", () => {
  const sources = import.meta.glob<string>("/src/**/*.tsx", { query: "?raw", import: "default", eager: true });
  const own = Object.keys(sources).filter((path) => !path.includes(".test.") && /<form\b/.test(sources[path] ?? ""));
  expect(own.sort()).toEqual(Object.keys(OWN).sort());
});
