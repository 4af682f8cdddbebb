import { describe, expect, it } from "vitest";

import type { FileChange } from "@/api/model";
import { cutAt } from "@/views/review/colours";
import { hunksOf, modeOf, piecesOf, sideBySide } from "@/views/review/patch";

const PATCH = `diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,4 @@ def main():
 one
-two = 1
+two = 2
+--- three
 four
@@ -10 +11 @@
-old
\\ No newline at end of file
+new
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-diff --git a/x b/x
`;

const file = (path: string, old_path: string | null = null): FileChange => ({
  path,
  old_path,
  status: "modified",
  insertions: 0,
  deletions: 0,
  binary: false,
});

describe("a patch", () => {
  it("has a piece for each file, and none where it was cut", () => {
    const [first, second, third] = piecesOf(PATCH, [file("a.py"), file("gone"), file("later")]);
    expect(first).toContain("two = 2");
    expect(second).toContain("deleted file mode");
    expect(third).toBeUndefined();
  });

  it("finds a file whose name git has quoted by its place", () => {
    const [only] = piecesOf('diff --git "a/\\303\\251" "b/\\303\\251"\n@@ -1 +1 @@\n-a\n+b\n', [file("é")]);
    expect(only).toContain("+b");
  });

  it("keeps both pieces of a file whose type has changed", () => {
    const one = "diff --git a/l b/l\ndeleted file mode 100644\n@@ -1 +0,0 @@\n-x\n";
    const [found] = piecesOf(`${one}diff --git a/l b/l\nnew file mode 120000\n@@ -0,0 +1 @@\n+y\n`, [file("l")]);
    expect(hunksOf(found ?? "").flatMap((each) => each.lines.map((line) => line.text))).toEqual(["x", "y"]);
  });

  it("has lines with both numbers, whatever they look like", () => {
    const [first, second] = hunksOf(piecesOf(PATCH, [file("a.py")])[0] ?? "");
    expect(first?.where).toBe("def main():");
    expect(first?.lines.map(({ kind, old, now, text }) => [kind, old, now, text])).toEqual([
      ["same", 1, 1, "one"],
      ["removed", 2, null, "two = 1"],
      ["added", null, 2, "two = 2"],
      ["added", null, 3, "--- three"],
      ["same", 3, 4, "four"],
    ]);
    expect(second?.lines.map(({ unended }) => unended)).toEqual([true, undefined]);
  });

  it("stands side by side with what came in its place", () => {
    const [first] = hunksOf(PATCH);
    const rows = sideBySide(first?.lines ?? []).map(({ left, right }) => [left?.text, right?.text]);
    expect(rows).toEqual([
      ["one", "one"],
      ["two = 1", "two = 2"],
      [undefined, "--- three"],
      ["four", "four"],
    ]);
  });

  it("shows where a line differs from the one that it was", () => {
    const [hunk] = hunksOf("@@ -1 +1 @@\n-let a = 1;\n+let b = 1;\n");
    expect(hunk?.lines.map((each) => each.text.slice(...(each.differs ?? [0, 0])))).toEqual(["a", "b"]);
  });
});

describe("a patch that somebody has made to mislead", () => {
  const added = (...lines: string[]) => {
    const text = `diff --git a/x b/x\n@@ -0,0 +1,${lines.length} @@\n${lines.map((each) => `+${each}\n`).join("")}`;
    return hunksOf(piecesOf(text, [file("x")])[0] ?? "").flatMap((each) => each.lines);
  };

  it("hides no line behind what looks like the next file", () => {
    const lines = added("safe", "\rdiff --git a/y b/y", "\u2028diff --git a/z b/z", "evil()");
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)?.text).toBe("evil()");
  });

  it("hides no hunk behind a heading with a line break of another kind", () => {
    const [hunk] = hunksOf("@@ -1 +1 @@ def f():\r\u2028x\n-a\n+b\n");
    expect(hunk?.lines).toHaveLength(2);
  });

  it("shows every character: also those that turn the order of what one reads around", () => {
    expect(added("if a:\u202e pass", "zero\u200bwidth").map((each) => each.text)).toEqual([
      "if a:\\u{202e} pass",
      "zero\\u{200b}width",
    ]);
  });

  it("says where lines end as on Windows now", () => {
    const [hunk] = hunksOf("@@ -1 +1 @@\n-a\n+a\r\n");
    expect(hunk?.lines.map((each) => [each.text, each.cr])).toEqual([
      ["a", undefined],
      ["a", true],
    ]);
  });
});

describe("what is not in the lines of a file", () => {
  it("is told: whether it may be executed, or is a link", () => {
    expect(modeOf("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n")).toEqual({ from: "644", to: "755" });
    expect(modeOf("diff --git a/x b/x\nnew file mode 100755\nindex 0..1\n@@ -0,0 +1 @@\n+x\n")).toEqual({
      is: "executable",
    });
    expect(modeOf("diff --git a/x b/x\nindex 12..34 120000\n@@ -1 +1 @@\n-a\n+b\n")).toEqual({ is: "link" });
    expect(modeOf("diff --git a/x b/x\nindex 12..34 100755\n@@ -1 +1 @@\n-a\n+b\n")).toBeNull();
    expect(modeOf("diff --git a/x b/x\nindex 12..34 100644\n@@ -1 +1 @@\n-a\n+new file mode 100755\n")).toBeNull();
  });
});

describe("what differs in a line", () => {
  const marked = (old: string, now: string) =>
    hunksOf(`@@ -1 +1 @@\n-${old}\n+${now}\n`)[0]?.lines.map((each) => each.text.slice(...(each.differs ?? [0, 0])));

  it("is whole words, and never half a letter", () => {
    expect(marked("return price", "return prize")).toEqual(["price", "prize"]);
    expect(marked("a = '😀'", "a = '😁'")).toEqual(["😀", "😁"]);
    expect(marked("価格を示す", "価値を示す")).toEqual(["格", "値"]);
  });

  it("is cut out of the colours of the line", () => {
    const line = [
      ["let ", "keyword"],
      ["price", ""],
      [" = 1", "number"],
    ] as const;
    expect(cutAt(line, [2, 7])).toEqual([
      [["le", "keyword"]],
      [
        ["t ", "keyword"],
        ["pri", ""],
      ],
      [
        ["ce", ""],
        [" = 1", "number"],
      ],
    ]);
    expect(cutAt(line, [0, 0])).toEqual([line, [], []]);
  });
});
