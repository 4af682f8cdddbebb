import { describe, expect, it } from "vitest";

import { linesOf, parsed, without, written, type Known } from "./line";
import { nearest } from "./nearest";
import { accepted, activeAt, suggestions } from "./suggesting";

const AT = "2026-01-01T00:00:00Z";
const KNOWN: Known = {
  agents: [
    { id: "taro", name: "Taro" },
    { id: "hana-k", name: "Hana Kato" },
    { id: "hana-s", name: "Hana Sato" },
    { id: "mika", name: "ミカ" },
  ],
  tasks: [
    { id: "t1", title: "Show prices", status: "todo", created_at: AT },
    { id: "t2", title: "Checkout", status: "in_progress", created_at: AT },
    { id: "t3", title: "Show prices", status: "completed", created_at: "2026-02-01T00:00:00Z" },
    { id: "t4", title: 'Say "hello"', status: "todo", created_at: AT },
  ],
  priorities: [
    { id: "critical", names: ["Critical", "urgent", "最優先"] },
    { id: "high", names: ["High", "高"] },
    { id: "medium", names: ["Medium"] },
    { id: "low", names: ["Low"] },
  ],
};
const chips = (line: string) => parsed(line, KNOWN).chips.map(({ kind, id }) => [kind, id]);

describe("a task in one line", () => {
  it("has its title, and what its signs say of it", () => {
    const line = 'Fix rounding @taro !high after "Show prices" #checkout';
    expect(parsed(line, KNOWN).title).toBe("Fix rounding");
    expect(chips(line)).toEqual([
      ["who", "taro"],
      ["rank", "high"],
      ["after", "t1"],
      ["under", "t2"],
    ]);
  });

  it.each([
    ['Fix it @"Hana Kato"', "hana-k"],
    ["Fix it @HanaSato", "hana-s"],
    ["@hana-s fix it", "hana-s"],
    ["直す ＠ミカ", "mika"],
    ["Fix it, @taro.", "taro"],
  ])("knows agents by name and ID, however they are written: %s", (line, id) => {
    expect(chips(line)).toEqual([["who", id]]);
  });

  it.each(["直す ！最優先", "Fix it !URGENT", "!critical Fix it"])("knows priorities in both languages: %s", (line) => {
    expect(chips(line)).toEqual([["rank", "critical"]]);
  });

  it("waits for several, and takes of everything else what was written last", () => {
    expect(chips('Fix !low !high after "Checkout" after「Show prices」')).toEqual([
      ["rank", "high"],
      ["after", "t2"],
      ["after", "t1"],
    ]);
  });

  it.each([
    "Look after plants",
    "Fix #12 and write to a@b.org",
    "Stop!",
    "Wow !!! or # or @",
    "mail me@home",
    "50 % off!now",
  ])("is only words where no sign is meant: %s", (line) => {
    expect(parsed(line, KNOWN)).toEqual({ title: line, chips: [], mistakes: [] });
  });

  it("takes a sign after a backslash as it stands", () => {
    expect(parsed("Write to \\@taro", KNOWN)).toEqual({ title: "Write to @taro", chips: [], mistakes: [] });
  });

  it.each([
    ["Fix it @tarro", "who", "Taro"],
    ["Fix it !hihg", "rank", "High"],
    ['Fix it after "Show price"', "after", "Show prices"],
    ["Fix it #chekout", "under", "Checkout"],
    ["Fix it @zzzzzz", "who", null],
  ])("says what is not there, and what is nearest: %s", (line, kind, meant) => {
    const { title, mistakes } = parsed(line, KNOWN);
    expect(title).toBe("Fix it");
    expect(mistakes.map((each) => [each.kind, each.meant])).toEqual([[kind, meant]]);
  });

  it.each(KNOWN.tasks.map(({ id, title }) => [title, id === "t3" ? "t1" : id] as const))(
    "writes a chosen task so that it is read again as the same: %s",
    (title, id) => {
      expect(chips(`Fix ${written("under", title)} now`)).toEqual([["under", id]]);
      expect(chips(`Fix ${written("after", title)} now`)).toEqual([["after", id]]);
    },
  );

  it("is one of several, of a list that was pasted too", () => {
    expect(linesOf("- Saw\n\n* [ ] Plane @taro\n  Sand - twice\n")).toEqual(["Saw", "Plane @taro", "Sand - twice"]);
  });

  it("lets go of what is chosen elsewhere, and of nothing else", () => {
    expect(without('Fix @taro !low after "Checkout"', "who")).toBe('Fix !low after "Checkout"');
    expect(without("Write to \\@taro @mika", "who")).toBe("Write to \\@taro");
  });
});

describe("the token at the cursor", () => {
  const at = (text: string) => activeAt(text, text.length);
  const labels = (text: string) => suggestions(at(text), KNOWN).map((each) => each.label);

  it("is suggested what it may become", () => {
    expect(labels("Fix @ha")).toEqual(["Hana Kato", "Hana Sato"]);
    expect(labels("Fix !")).toEqual(["Critical", "High", "Medium", "Low"]);
    expect(labels('Fix after "sh')).toEqual(["Show prices", "Show prices"]);
    expect(labels("Fix #out")).toEqual(["Checkout"]);
  });

  it("is none between words, after an address, or on another line", () => {
    for (const text of ["Fix @taro ", "a@b", "Fix it", "Fix @taro\nnext"]) expect(at(text)).toBeNull();
  });

  it("becomes what is accepted, and the cursor stands behind it", () => {
    const text = "Fix @ha and paint\nsecond";
    const active = activeAt(text, 7);
    expect(active).not.toBeNull();
    if (active === null) return;
    expect(accepted(text, active, "Hana Kato")).toEqual({
      text: 'Fix @"Hana Kato" and paint\nsecond',
      cursor: 17,
    });
  });
});

describe("the nearest name", () => {
  it("is the one with the fewest letters apart, or none", () => {
    expect(nearest("taor", ["Taro", "Hana"])).toBe("Taro");
    expect(nearest("claud", ["codex", "claude"])).toBe("claude");
    expect(nearest("xyz", ["Taro", "Hana"])).toBeNull();
    expect(nearest("x", [])).toBeNull();
  });
});
