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

const all = await catalogues();

describe("the words", () => {
  const { en, ja } = all;

  it("have the same keys in both languages", () => {
    expect(keys(ja).sort()).toEqual(keys(en).sort());
  });

  it("fill in the same values in both languages", () => {
    const named = (words: unknown) => {
      const paths = keys(words);
      return new Map(texts(words).map((text, at) => [paths[at], (text.match(/{{\w+}}/g) ?? []).sort().join()]));
    };
    expect(named(ja)).toEqual(named(en));
  });

  it("leave none empty", () => {
    expect([...texts(en), ...texts(ja)].filter((text) => text.trim() === "")).toEqual([]);
  });

  it("have a form for one and a form for many where a noun follows a number", () => {
    /** Never said of one: a form for many tasks, a limit. */
    const ALWAYS_MANY = /characters$|these {{count}} tasks|all {{count}} tasks|{{count}} tasks( created)?$/;
    const counted = (words: unknown, path = ""): string[] =>
      typeof words === "string"
        ? /{{count}} (?:\w+ )*?\w{3,}s\b/.test(words) && !/_(one|other)$/.test(path) && !ALWAYS_MANY.test(words)
          ? [`${path}: ${words}`]
          : []
        : Object.entries(words as object).flatMap(([name, each]) => counted(each, `${path}.${name}`));
    expect(counted(en)).toEqual([]);
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
