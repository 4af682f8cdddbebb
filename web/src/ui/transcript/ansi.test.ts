import { describe, expect, it } from "vitest";

import { painted, uncontrolled } from "@/ui/transcript/ansi";

const ESC = "\u001b";

describe("what a program prints", () => {
  it("keeps its colours, in those of the page", () => {
    expect(painted(`a ${ESC}[1;31mred${ESC}[0m ${ESC}[38;5;46mgreen${ESC}[38;2;1;2;3m dark`)).toEqual([
      { text: "a ", look: "" },
      { text: "red", look: "text-red font-semibold" },
      { text: " ", look: "" },
      { text: "green", look: "text-green" },
      { text: " dark", look: "" },
    ]);
  });

  it("loses everything else that is told to terminals", () => {
    expect(uncontrolled(`${ESC}[2J${ESC}[1;1Ha${ESC}]0;title\u0007b${ESC}]8;;x${ESC}\\c${ESC}(Bd\u0007\u0000`)).toBe(
      "abcBd",
    );
    expect(uncontrolled("10%\r50%\r100%\r\nnext\r\n")).toBe("100%\nnext\n");
  });

  it("may begin what never ends", () => {
    expect(uncontrolled(`${ESC}]`.repeat(200_000))).toBe("");
    expect(painted(`${ESC}[31m`.repeat(20_000))).toEqual([]);
  });

  it("is no HTML", () => {
    expect(painted(`${ESC}[31m<b>x</b>&amp;`)).toEqual([{ text: "<b>x</b>&amp;", look: "text-red" }]);
  });
});
