import { render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Mentions } from "@/ui/mentions";
import { Prose } from "@/ui/prose";
import Markdown from "@/ui/markdown/markdown";
import { reader } from "@/ui/markdown/reader";
import { allowed } from "@/ui/markdown/links";
import { DEEPEST, isDrawable, isMarked } from "@/ui/markdown/bounds";

/** Drawn at once, without the loading of it. */
const drawn = (text: string) => render(<Markdown text={text} plain="" />).container;

describe("a text of an agent", () => {
  it("is drawn with its headings, lists, tables, ticks, quotes and code", () => {
    const box = drawn(
      "# Plan\n\n1. one\n2. two\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n~~no~~ **yes**\n\n```py\nx = 1\n```",
    );
    expect(box.querySelector("h4")?.textContent).toBe("Plan");
    expect(box.querySelectorAll("ol li")).toHaveLength(2);
    expect([...box.querySelectorAll("input")].map((each) => each.checked)).toEqual([true, false]);
    expect(box.querySelectorAll("td")).toHaveLength(2);
    expect(box.querySelector("blockquote")?.textContent.trim()).toBe("said");
    expect(box.querySelector("del")?.textContent).toBe("no");
    expect(box.querySelector("strong")?.textContent).toBe("yes");
    expect(box.querySelector("pre")?.dataset.language).toBe("py");
    expect(box.querySelector("pre")?.textContent).toBe("x = 1");
  });

  it("keeps its line breaks, as people and programs mean them", () => {
    expect(drawn("one\ntwo  \nthree **x**").querySelector("p")?.textContent).toBe("one\ntwo\nthree x");
  });

  it("is plain text until what draws it has come, and drawn then", async () => {
    const { container } = render(<Prose text="# Plan" />);
    expect(container.textContent).toMatch(/Plan/);
    await waitFor(() => expect(container.querySelector("h4")?.textContent).toBe("Plan"));
  });

  it("stays plain text where it could not be read", () => {
    const { here } = reader;
    reader.here = () => null;
    expect(drawn("# Plan, not read").textContent).toBe("");
    render(<Markdown text="# Plan, not read" plain="# Plan, not read" />);
    reader.here = here;
    expect(screen.getByText("# Plan, not read")).toBeTruthy();
  });

  it("is never asked to be drawn when it has no mark", () => {
    expect(isMarked("Just words, and a full stop.\nAnd another line.")).toBe(false);
    expect(isMarked("the - dash 3. and = sign")).toBe(false);
    for (const each of ["# a", "- a", "1. a", "a\n\nb", "`a`", "https://a.org", "| a |", "a_b_"])
      expect(isMarked(each), each).toBe(true);
  });
});

describe("a task that a text names by its id", () => {
  const id = "tsk_1m8acgefwtpvd0jwma3";
  const named = (text: string) =>
    render(
      <Mentions value={(taskId) => <b>{`chip ${taskId}`}</b>}>
        <Markdown text={text} plain="" />
      </Mentions>,
    ).container;

  it("is drawn as that task, also where the id is written as code", () => {
    expect(named(`See ${id}, and \`${id}\`.`).textContent).toBe(`See chip ${id}, and chip ${id}.`);
  });

  it("stays as it is within code, links, paths and longer words", () => {
    for (const text of [`\`git log ${id}\``, `[${id}](https://a.org)`, `toryo/${id}`, `x${id}`])
      expect(named(text).querySelector("b"), text).toBeNull();
  });

  it("is a link to it where nothing draws tasks", () => {
    expect(drawn(`See ${id}`).querySelector("a")?.getAttribute("href")).toBe(`/t/${id}`);
  });
});

describe("a box of a list that is read again", () => {
  it("is ticked when the text says so by then", () => {
    const { container, rerender } = render(<Markdown text="- [ ] a" plain="" />);
    rerender(<Markdown text="- [x] a" plain="" />);
    expect(container.querySelector("input")?.checked).toBe(true);
  });
});

describe("a link", () => {
  it("leads to the web in a page that learns nothing of this one, without the full stop behind it", () => {
    const link = drawn("See https://example.org/a?b=1.").querySelector("a");
    expect(link?.getAttribute("href")).toBe("https://example.org/a?b=1");
    expect(link?.getAttribute("rel")).toBe("noreferrer noopener nofollow");
  });

  it("ends before the brackets and full stops of Japanese", () => {
    const box = drawn("詳細（https://example.org/a）を参照。");
    expect(box.querySelector("a")?.getAttribute("href")).toBe("https://example.org/a");
    expect(box.textContent).toBe("詳細（https://example.org/a）を参照。");
  });

  it("may lead to a page of the dashboard", () => {
    expect(drawn("[it](/t/tsk_1?tab=log)").querySelector("a")?.getAttribute("href")).toBe("/t/tsk_1?tab=log");
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java&#10;script:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example",
    "/api/v1/people",
    "/sign-in#code",
    "/%73ign-in#code",
    "/./sign-in/#code",
    "/x/..//Sign-In?a#code",
    `${location.origin}/sign-in#code`,
    "blob:https://a/b",
  ])("leads nowhere when it is %s", (address) => {
    const box = drawn(`[words](<${address}>) ![picture](<${address}>)`);
    expect(box.querySelector("a")).toBeNull();
    expect(box.textContent).toContain("words");
  });

  it("leads to no other host by a path", () => {
    for (const each of ["//evil.example", "/\\evil.example", "/\tevil", "/api/v1/people", "/mcp"])
      expect(allowed(each), each).toBeUndefined();
    expect(allowed("/apis")).toBe("/apis");
  });

  it("stands where a picture would be loaded from elsewhere", () => {
    const box = drawn("![a chart](https://evil.example/pixel.png)");
    expect(box.querySelector("img")).toBeNull();
    expect(box.querySelector("a")?.textContent).toBe("a chart");
  });
});

describe("a hostile text", () => {
  it.each([
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<svg onload=alert(1)>",
    "<iframe src=//evil></iframe>",
    "a <b onmouseover=alert(1)>b</b>",
    "<style>*{display:none}</style>",
  ])("stays text: %s", (text) => {
    const box = drawn(`Look\n\n${text}\n\n**end**`);
    expect(box.querySelector("script, img, svg, iframe, b, style")).toBeNull();
    expect(box.textContent).toContain(text);
  });

  const MARKS = "[ ![ *a _a ** ` ~~ < <a ![[]( [a]( [^1] | \\ & *_ []( a@".split(" ");
  it.each(MARKS)("made of %s alone is drawn all the same", (mark) => {
    const box = drawn(`a ${mark.repeat(400)}`);
    expect(box.textContent.length).toBeGreaterThan(10);
  });

  it.each([
    ["quotes", ">".repeat(5000) + " x"],
    ["quotes with spaces", "> ".repeat(5000) + "x"],
    ["lists", Array.from({ length: 500 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n")],
    ["lists on a line", "- ".repeat(5000) + "x"],
    ["numbers", "1. ".repeat(3000) + "x"],
  ])("is shown as it is when it is nested without end: %s", (_name, text) => {
    expect(isDrawable(text)).toBe(false);
    const { container } = render(<Prose text={text} />);
    expect(container.querySelector("blockquote, li")).toBeNull();
    expect(container.textContent).toContain("x");
  });

  it("may be nested as deeply as people nest", () => {
    expect(isDrawable(`${"> ".repeat(DEEPEST)}x`)).toBe(true);
  });

  it.each([
    ["a line of megabytes", "**a** " + "x".repeat(3_000_000)],
    ["line breaks", `**a**${"\n".repeat(5_000)}b`],
    ["a long language", `\`\`\`${"a".repeat(5_000)}\nwords`],
    ["many items", "- a\n".repeat(4_500)],
  ])("of great length is shown: %s", async (_name, text) => {
    const { container } = render(<Prose text={text} />);
    await waitFor(() => expect(container.textContent.length).toBeGreaterThan(2));
  });

  it("that runs from right to left runs so by itself, and nothing else does", () => {
    const box = drawn("# שלום\n\nمرحبا بالعالم\n\nHello");
    expect([...box.querySelectorAll("p")].every((each) => each.dir === "auto")).toBe(true);
  });
});
