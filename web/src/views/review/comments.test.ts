import { describe, expect, it } from "vitest";

import { asMessage, type Comment } from "@/views/review/comments";

const comment = (path: string, line: number, text: string): Comment => ({
  path,
  line,
  text,
  side: "now",
  quote: "  x = 1",
});

describe("comments", () => {
  it("become one message that says where each belongs", () => {
    const told = asMessage(
      "Good.",
      [comment("a.py", 3, "Why one?"), comment("b.py", 9, "Test it.")],
      (each) => `${each.path}:${each.line}`,
    );
    expect(told).toBe("Good.\n\na.py:3\n> x = 1\nWhy one?\n\nb.py:9\n> x = 1\nTest it.");
  });

  it("need nothing said in general", () => {
    expect(asMessage(" ", [comment("a.py", 3, "Why?")], () => "a.py")).toBe("a.py\n> x = 1\nWhy?");
  });
});
