import { describe, expect, it } from "vitest";

import type { FileChange } from "@/api/model";
import { hunksOf, piecesOf, sideBySide } from "@/views/review/patch";

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
