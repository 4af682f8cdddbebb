import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { DraftLine, DraftsOf, keep, kept, tidy, useDraft } from "@/drafts";
import { ToastProvider } from "@/ui";

function Form() {
  const [text, write, draft] = useDraft("place", "");
  return (
    <>
      <DraftLine draft={draft} />
      <input aria-label="Text" value={text} onChange={(event) => write(event.target.value)} />
      <button onClick={draft.done}>Send</button>
    </>
  );
}

function Page({ person }: { person: string }) {
  const [open, setOpen] = useState(true);
  return (
    <ToastProvider>
      <button onClick={() => setOpen(!open)}>Switch</button>
      <DraftsOf key={person} person={person}>
        {open && <Form />}
      </DraftsOf>
    </ToastProvider>
  );
}

const text = () => screen.getByLabelText<HTMLInputElement>("Text");
const type = (words: string) => fireEvent.change(text(), { target: { value: words } });
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("a draft", () => {
  beforeEach(() => localStorage.clear());

  it("is there when the form is opened again, and both closing and opening say so", () => {
    render(<Page person="olga" />);
    type("half");
    press("Switch");
    expect(screen.getByText(/Draft kept/)).toBeTruthy();
    press("Switch");
    expect(text().value).toBe("half");
    expect(screen.getByText("This is your draft.")).toBeTruthy();
  });

  it("outlives the page", () => {
    render(<Page person="olga" />);
    type("half");
    cleanup();
    render(<Page person="olga" />);
    expect(text().value).toBe("half");
  });

  it("is gone after a success, and nothing is said", () => {
    render(<Page person="olga" />);
    type("whole");
    press("Send");
    press("Switch");
    expect(screen.queryByText(/Draft kept/)).toBeNull();
    press("Switch");
    expect(text().value).toBe("");
  });

  it("is gone once it is discarded", () => {
    render(<Page person="olga" />);
    type("half");
    press("Switch");
    press("Switch");
    press("Discard draft");
    expect(text().value).toBe("");
    press("Switch");
    press("Switch");
    expect(text().value).toBe("");
  });

  it("is not shown to another person on the same browser, and is there for who wrote it", () => {
    const page = render(<Page person="olga" />);
    type("half");
    page.rerender(<Page person="nils" />);
    expect(text().value).toBe("");
    page.rerender(<Page person="olga" />);
    expect(text().value).toBe("half");
  });

  it("is not kept where nothing was changed", () => {
    render(<Page person="olga" />);
    type("half");
    type("");
    press("Switch");
    expect(screen.queryByText(/Draft kept/)).toBeNull();
    expect(localStorage.length).toBe(0);
  });

  it("is removed after a month, and of too many the oldest go", () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    keep("olga", "old", "x");
    vi.setSystemTime(Date.UTC(2026, 1, 5));
    for (let number = 0; number < 60; number++) {
      vi.setSystemTime(Date.now() + 1000);
      keep("olga", `new-${number}`, "x");
    }
    expect(kept("olga", "old")).toBeUndefined();
    tidy();
    expect(localStorage.length).toBe(50);
    expect(kept("olga", "new-9")).toBeUndefined();
    expect(kept("olga", "new-10")).toBe("x");
  });

  it("is not kept where it is too long, and what is kept for others stays", () => {
    localStorage.setItem("toryo.theme", "dark");
    expect(keep("olga", "place", "x".repeat(300_000))).toBe(false);
    tidy();
    expect(localStorage.getItem("toryo.theme")).toBe("dark");
  });
});

const SOURCES = import.meta.glob<string>("/src/**/*.tsx", { query: "?raw", import: "default", eager: true });
const FREE = /<(TextArea|TextField|textarea|input)\b/;

/** Fields that keep no draft, and why. */
const WITHOUT: Record<string, string> = {
  "/src/app/quick/line-field.tsx": "the field of form.tsx beside it",
  "/src/ui/form.tsx": "the fields themselves",
  "/src/ui/markdown/markdown.tsx": "ticks of a list that are only shown",
  "/src/views/audit/filters.tsx": "a filter: it is in the address",
  "/src/app/filter/filter-bar.tsx": "a filter: it is in the address",
  "/src/views/graph/inspector.tsx": "a filter",
  "/src/views/graph/tools.tsx": "a filter",
  "/src/views/list/rows.tsx": "marks",
  "/src/views/logs/tools.tsx": "a search",
  "/src/views/review/file.tsx": "a tick that is kept at once",
  "/src/views/settings/agent-form.tsx": "the fields of new-agent.tsx and agent.tsx",
  "/src/views/settings/program-cards.tsx": "a choice in new-agent.tsx",
  "/src/views/settings/notifications.tsx": "each is saved at once",
  "/src/views/settings/password.tsx": "a secret",
  "/src/views/settings/source-form.tsx": "the fields of schedule-form.tsx and webhook-form.tsx",
  "/src/views/signin/password.tsx": "a secret",
  "/src/views/state/state.tsx": "a filter",
  "/src/app/past/strip.tsx": "a slider",
  "/src/views/timeline/toolbar.tsx": "a search",
};

describe("every field that one writes into", () => {
  const files = Object.keys(SOURCES).filter((path) => !path.includes(".test.") && FREE.test(SOURCES[path] ?? ""));
  const keeps = (path: string) => /\buse(Draft|Editing)(<\w+>)?\(/.test(SOURCES[path] ?? "");

  it("keeps a draft, or is listed with a reason", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((path) => !keeps(path) && !(path in WITHOUT))).toEqual([]);
  });

  it("is listed only where it keeps none", () => {
    expect(Object.keys(WITHOUT).filter((path) => keeps(path) || !files.includes(path))).toEqual([]);
  });

  it("is kept by nothing else", () => {
    const BY_HAND = /(local|session)Storage\.setItem\([^)]*(draft|review|text|words)/i;
    const sources = import.meta.glob<string>("/src/views/**/*.{ts,tsx}", {
      query: "?raw",
      import: "default",
      eager: true,
    });
    const found = Object.entries(sources).filter(([path, text]) => !path.includes(".test.") && BY_HAND.test(text));
    expect(found.map(([path]) => path)).toEqual([]);
  });
});
