import { describe, expect, it } from "vitest";

import { Reader, filtered, placeOf, type Call, type Item } from "@/ui/transcript/lines";

const read = (text: string, spoken = true) => new Reader(spoken).read(text, [], true);
const brief = (items: readonly Item[]) =>
  items.map((each) =>
    each.kind === "call"
      ? [each.tool, each.args, each.result, each.failed]
      : [each.kind, each.kind === "minute" ? "" : each.text],
  );

describe("the lines of a log", () => {
  it("are words, calls with their results, notes, trouble and usage", () => {
    const text = [
      "· Worktree ready",
      "I look.",
      "- at this",
      '→ Bash {"command": "ls"}',
      "← a",
      "│ b",
      "│",
      "│ c",
      "→ Read {}",
      "✗ no such file",
      "! the model's service returned an error (529)",
      "Done.",
      "Σ 12 in · 3 out",
    ].join("\n");
    expect(brief(read(text))).toEqual([
      ["note", "Worktree ready"],
      ["words", "I look.\n- at this"],
      ["Bash", '{"command": "ls"}', "a\nb\n\nc", false],
      ["Read", "{}", "no such file", true],
      ["trouble", "the model's service returned an error (529)"],
      ["words", "Done."],
      ["used", "12 in · 3 out"],
    ]);
  });

  it("of before the format had more lines are read the same", () => {
    const found = read('→ mcp__toryo__get_my_task {}\n← {"success":true, "a": 1}\n→ Bash x\n✗ exit 1\nbye\n');
    expect(brief(found).map((each) => each.length)).toEqual([4, 4, 2]);
    expect((found[1] as Call).failed).toBe(true);
  });

  it("answer calls in order, or the one that is named", () => {
    const [a, b, c] = read("→ A\n→ B\n→ C\n←3 3\n← 1\n✗ 2\n") as Call[];
    expect([a?.result, b?.result, c?.result]).toEqual(["1", "2", "3"]);
    expect([a?.failed, b?.failed, c?.failed]).toEqual([false, true, false]);
  });

  it("are read once each as they come, and what was shown is not changed", () => {
    const reader = new Reader(true);
    const text = "one\n→ Bash x\n← begin\n│ end\n";
    let last: readonly Item[] = [];
    for (let end = 0; end <= text.length; end++) {
      const before = JSON.stringify(last);
      const next = reader.read(text.slice(0, end), [], false);
      expect(JSON.stringify(last)).toBe(before);
      last = next;
    }
    expect(brief(last)).toEqual(brief(read(text)));
    expect(reader.read(text, [], false)).toBe(last);
  });

  it("of a plain program are output, whatever they begin with", () => {
    expect(brief(read("→ not a call\n← nor this\n", false))).toEqual([["output", "→ not a call\n← nor this"]]);
  });

  it("have a mark where another minute begins, and calls know how long they took", () => {
    const at = Date.parse("2026-01-01T10:00:50Z");
    const text = "one\n→ Bash x\n← ok\ntwo\n";
    const times = [
      { offset: 0, at },
      { offset: text.indexOf("←"), at: at + 15_000 },
    ];
    const found = new Reader(true).read(text, times, true);
    expect(found.map((each) => each.kind)).toEqual(["minute", "words", "call", "minute", "words"]);
    const call = found[2] as Call;
    expect((call.done ?? 0) - (call.at ?? 0)).toBe(15_000);
  });

  it("can be found again, also where a result came after other calls", () => {
    const text = "one\n→ A\n→ B\n←2 second\n│ more of it\n← first\nend\n";
    const lines = text.split("\n");
    const items = read(text);
    const kind = (line: number) => {
      const item = items[placeOf(items, line, lines[line] ?? "")];
      return item?.kind === "call" ? item.tool : item?.kind;
    };
    expect([0, 1, 2, 3, 4, 5, 6].map(kind)).toEqual(["words", "A", "B", "B", "B", "A", "words"]);
  });

  it("can be filtered", () => {
    const items = read("hi\n→ A\n← x\n→ B\n✗ y\n! z\n");
    expect(filtered(items, "words")).toHaveLength(1);
    expect(filtered(items, "calls")).toHaveLength(2);
    expect(brief(filtered(items, "errors")).map((each) => each[0])).toEqual(["B", "trouble"]);
    expect(filtered(items, "all")).toBe(items);
  });

  it("are as many as they may be: 120,000, in blocks", () => {
    const items = read("a line of output\n".repeat(120_000), false);
    expect(items).toHaveLength(3000);
    expect(placeOf(items, 119_999, "a line of output")).toBe(2999);
  });
});
