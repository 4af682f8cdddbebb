import { describe, expect, it } from "vitest";

import { catalogues } from "@/i18n";
import { en as common } from "@/i18n/en";

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

  it("write product names in Japanese as the pages and the server do", () => {
    const OTHER_NAMES = /Coordinator|棟梁|トーリョ/; // コーディネーター, Toryo
    expect(texts(ja).filter((text) => OTHER_NAMES.test(text))).toEqual([]);
  });

  it("name statuses, priorities and roles in English as the API does", () => {
    const words = { ...common.status, ...common.priority, ...common.role };
    const asNamed = Object.keys(words).map((name) => (name === "todo" ? "to do" : name.replaceAll("_", " ")));
    expect(Object.values(words).map((word) => word.toLowerCase())).toEqual(asNamed);
  });
});
