import { describe, expect, it } from "vitest";

import { LONGEST, questionOf } from "./highlighter";
import { grammars } from "./grammars";
import { languageOf } from "./languages";
import { tokensOf } from "./tokens";

describe("code", () => {
  it("comes as lines of tokens that together are the code", () => {
    const code = 'def f(a):\n    """Two\n    lines"""\n    return "x"  # why';
    const lines = tokensOf(`python\n${code}`) ?? [];
    expect(lines.map((line) => line.map(([text]) => text).join("")).join("\n")).toBe(code);
    expect(lines[0]?.[0]).toEqual(["def", "keyword"]);
    expect(lines[2]?.at(-1)?.[1]).toBe("string");
    expect(lines[3]?.at(-1)).toEqual(["# why", "comment"]);
  });

  it("is in the language that its name says, and in none if that is not known", () => {
    expect(languageOf("TSX")).toBe("typescript");
    expect(languageOf("makefile")).toBe("makefile");
    expect([languageOf("brainfuck"), languageOf("constructor"), languageOf("__proto__"), languageOf("")]).toEqual([
      "",
      "",
      "",
      "",
    ]);
    expect(tokensOf("klingon\nx")).toBeNull();
  });

  it("has a grammar for every language that can be named", () => {
    const named = [
      "sh",
      "c",
      "cpp",
      "cs",
      "css",
      "patch",
      "docker",
      "go",
      "toml",
      "java",
      "js",
      "json",
      "kt",
      "lua",
      "mk",
      "md",
    ];
    for (const name of [...named, "php", "py", "rb", "rs", "scss", "sql", "swift", "ts", "html", "yml"])
      expect(Object.keys(grammars)).toContain(languageOf(name));
  });

  it("that is very long, or has very long lines, stays plain", () => {
    expect(questionOf("x = 1\n".repeat(10), "python")).not.toBeNull();
    expect(questionOf("x = 1\n".repeat(LONGEST), "python")).toBeNull();
    expect(questionOf("x".repeat(6_000), "python")).toBeNull();
    expect(questionOf("x = 1", "")).toBeNull();
  });
});
