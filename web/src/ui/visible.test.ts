import { describe, expect, it } from "vitest";

import { visible } from "@/ui/visible";

describe("a text of which every character must be seen", () => {
  it("shows what steers a terminal or turns the order around by its number", () => {
    expect(visible("rm \u202efdp.x\u2066 \u001b[2J\u200b")).toBe("rm \\u{202e}fdp.x\\u{2066} \\u{1b}[2J\\u{200b}");
    expect(visible("\u{e0041}")).toBe("\\u{e0041}");
  });

  it("leaves lines, tabs and every language as they are", () => {
    expect(visible("make\n\ttest 日本語 שלום")).toBe("make\n\ttest 日本語 שלום");
    expect(visible("葛\u{e0100}城 👩\u200d💻")).toBe("葛\u{e0100}城 👩\u200d💻");
  });
});
