import { describe, expect, it } from "vitest";

import { catalogues } from "@/i18n";

function keys(words: unknown, prefix = ""): string[] {
  if (typeof words !== "object" || words === null) return [prefix];
  return Object.entries(words).flatMap(([name, each]) => keys(each, prefix ? `${prefix}.${name}` : name));
}

function texts(words: unknown): string[] {
  return typeof words === "string" ? [words] : Object.values(words as object).flatMap(texts);
}

describe("the words", () => {
  const { en, ja } = catalogues();

  it("have the same keys in both languages", () => {
    expect(keys(ja).sort()).toEqual(keys(en).sort());
  });

  it("fill in the same values in both languages", () => {
    const named = (words: unknown) => texts(words).map((text) => (text.match(/{{\w+}}/g) ?? []).sort().join());
    expect(named(ja)).toEqual(named(en));
  });

  it("leave none empty", () => {
    expect([...texts(en), ...texts(ja)].filter((text) => text.trim() === "")).toEqual([]);
  });

  it("have one name for a thing: the one that the pages in Japanese use, too", () => {
    const OTHER_NAMES = /コーディネーター|トーリョ/; // Coordinator, 棟梁
    expect(texts(ja).filter((text) => OTHER_NAMES.test(text))).toEqual([]);
  });
});
