import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { FileChange } from "@/api/model";
import { show } from "@/testkit";
import { spanning } from "@/views/review/commenting";
import { asMessage, type Comment } from "@/views/review/comments";
import { FileTree } from "@/views/review/file-tree";
import { hunksOf } from "@/views/review/patch";
import { Writing } from "@/views/review/remark";
import { Said } from "@/views/review/said";
import { partsOf, withSuggestion } from "@/views/review/suggestion";
import { treeOf } from "@/views/review/tree";
import { printOf, useViewed } from "@/views/review/viewed";

afterEach(cleanup);
beforeEach(() => localStorage.clear());

const change = (path: string): FileChange => ({
  path,
  old_path: null,
  status: "modified",
  insertions: 1,
  deletions: 0,
  binary: false,
});
const HUNKS = hunksOf("@@ -4,3 +4,4 @@ def f():\n one\n-two\n+zwei\n+deux\n three\n");
const at = (line: number, quote: string): Comment => ({ path: "a", side: "now", line, quote, text: "" });

describe("a comment on several lines", () => {
  it("reaches from where it began to where one has clicked, up or down, over lines that are there now", () => {
    expect(spanning(HUNKS, at(5, "zwei"), 7)).toMatchObject({ from: 5, line: 7, quote: "zwei\ndeux\nthree" });
    expect(spanning(HUNKS, at(6, "deux"), 4)).toMatchObject({ from: 4, line: 6, quote: "one\nzwei\ndeux" });
  });

  it("ends with the lines that are shown", () => {
    expect(spanning(HUNKS, at(5, "zwei"), 90)).toMatchObject({ from: 5, line: 7 });
  });

  it("is sent with all of them, and with a bound", () => {
    const said = asMessage("", [{ ...at(6, "zwei\n  deux"), from: 5, text: "Say why." }], () => "a:");
    expect(said).toBe("a:\n> zwei\n>   deux\nSay why.");
    const long = { ...at(90, Array.from({ length: 90 }, () => "x").join("\n")), text: "All?" };
    expect(asMessage("", [long], () => "a:").split("\n").length).toBeLessThan(20);
  });

  it("knows which lines its hunk shows", () => {
    expect(HUNKS[0]?.span).toEqual({ from: 4, to: 7 });
    expect(hunksOf("@@ -3,2 +2,0 @@\n-a\n-b\n")[0]?.span).toEqual({ from: 3, to: 4 });
  });
});

describe("a comment that is written", () => {
  it("is kept by Ctrl+Enter, which does nothing more, and not in the middle of a word in Japanese", async () => {
    const keep = vi.fn();
    const given = { place: "here", text: "Why?", quote: "one", about: null, suggests: false };
    await show(<Writing {...given} onKeep={keep} onClose={() => undefined} />);
    const press = (more: KeyboardEventInit) =>
      fireEvent.keyDown(screen.getByLabelText("Comment"), { key: "Enter", ctrlKey: true, ...more });
    press({ isComposing: true });
    expect(keep).not.toHaveBeenCalled();
    const goesOn = press({}); // the browser would press what then has the focus
    expect([keep.mock.calls, goesOn]).toEqual([[["Why?"]], false]);
  });
});

describe("a suggestion", () => {
  it("begins as what stands there, and is shown as a small diff", () => {
    const text = withSuggestion("Shorter:", "a = 1\nb = 2").replace("a = 1\nb = 2", "a, b = 1, 2");
    render(<Said text={text} quote={"a = 1\nb = 2"} />);
    expect(screen.getByText("Shorter:")).toBeTruthy();
    expect(document.querySelector("pre")?.textContent).toBe("- a = 1- b = 2+ a, b = 1, 2");
  });

  it("may be nothing: then the lines go", () => {
    expect(partsOf("```suggestion\n```")).toEqual([{ kind: "suggestion", lines: [] }]);
    expect(partsOf("```suggestion\n\n```")).toEqual([{ kind: "suggestion", lines: [""] }]);
    expect(partsOf("no ```suggestion here")).toEqual([{ kind: "words", text: "no ```suggestion here" }]);
  });
});

describe("the tree of changed files", () => {
  it("puts folders with one thing in them on one row", () => {
    const rows = treeOf([change("a/b/c.py"), change("a/b/d/e.py"), change("top")]);
    expect(rows.map((each) => `${" ".repeat(each.depth)}${each.name}`)).toEqual([
      "a/b",
      " d",
      "  e.py",
      " c.py",
      "top",
    ]);
  });

  it("says how many comments a file has, and whether it was viewed", () => {
    const viewed = { has: (path: string) => path === "a", put: () => undefined, count: 1 };
    const files = [change("a"), change("b")];
    render(
      <FileTree files={files} viewed={viewed} comments={(path) => (path === "b" ? 2 : 0)} onGo={() => undefined} />,
    );
    const [a, b] = screen.getAllByRole("button") as [HTMLElement, HTMLElement];
    expect(within(a).getByRole("img", { name: "Viewed" })).toBeTruthy();
    expect(within(b).getByText("2 pending comments")).toBeTruthy();
    expect(screen.getByText("1 of 2 viewed")).toBeTruthy();
  });
});

describe("a viewed file", () => {
  function Ticks({ piece }: { piece: string }) {
    const viewed = useViewed("t1", FILES, PIECES.get(piece) ?? []);
    return (
      <button type="button" onClick={() => viewed.put("a", true)}>
        {viewed.has("a") ? "viewed" : "not viewed"}
      </button>
    );
  }
  const FILES = [change("a")];
  const PIECES = new Map(["+one", "+two"].map((each) => [each, [each]]));

  it("stays viewed when one comes back, until its diff is another one", () => {
    render(<Ticks piece="+one" />);
    fireEvent.click(screen.getByRole("button", { name: "not viewed" }));
    cleanup();
    render(<Ticks piece="+one" />);
    expect(screen.getByRole("button", { name: "viewed" })).toBeTruthy();
    cleanup();
    render(<Ticks piece="+two" />);
    expect(screen.getByRole("button", { name: "not viewed" })).toBeTruthy();
  });

  it("is told apart by every letter of its diff", () => {
    expect(new Set(["", "a", "b", "ab", "ba"].map(printOf)).size).toBe(5);
  });
});
