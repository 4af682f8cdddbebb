import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Prose, parts } from "@/ui/prose";

describe("prose", () => {
  it("shows a block of code as it is, between the words around it", () => {
    expect(parts("Look:\n```ts\nconst a = **1**;\n```\nDone.")).toEqual([
      { kind: "text", text: "Look:\n" },
      { kind: "code", text: "const a = **1**;", language: "ts" },
      { kind: "text", text: "\nDone." },
    ]);
  });

  it("takes a block that is still being written to its end", () => {
    expect(parts("```\nhalf")).toEqual([{ kind: "code", text: "half", language: "" }]);
  });

  it("links web addresses without the full stop behind them, in a page that learns nothing of this one", () => {
    render(<Prose text="See https://example.org/a?b=1." />);
    const link = screen.getByRole("link");
    expect(link.getAttribute("href")).toBe("https://example.org/a?b=1");
    expect(link.getAttribute("rel")).toContain("noopener");
  });

  it("makes no element of what an agent wrote as HTML or as another scheme", () => {
    const { container } = render(<Prose text={'<img src=x onerror="alert(1)"> [x](javascript:alert(1))'} />);
    expect(container.querySelector("img")).toBeNull();
    expect(container.querySelector("a")).toBeNull();
    expect(container.textContent).toContain('<img src=x onerror="alert(1)">');
  });

  // Each of these took from ten seconds to a minute when a pattern looked at the rest again and again.
  it.each([
    ["dots", `https://a/${".".repeat(100_000)}x`],
    ["line breaks", `a${"\n".repeat(100_000)}b`],
    ["a long language", `\`\`\`${"a".repeat(100_000)}`],
    ["open stars", `**${"a ".repeat(50_000)}`],
    ["open ticks", `\`${"a".repeat(100_000)}`],
  ])("shows a text made to take long at once: %s", (_name, text) => {
    const { container } = render(<Prose text={text} />);
    expect(container.textContent?.length).toBeGreaterThan(10);
  });

  it("keeps closing marks out of an address, and line breaks at its ends out of a text", () => {
    const { container } = render(<Prose text={"\n\n(see https://example.org/a.).\n"} />);
    expect(container.querySelector("a")?.textContent).toBe("https://example.org/a");
    expect(container.textContent).toBe("(see https://example.org/a.).");
  });
});
