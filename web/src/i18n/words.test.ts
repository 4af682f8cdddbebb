import { describe, expect, it } from "vitest";

import { language, wordsIn } from "@/i18n/words";

describe("a word", () => {
  it("has the form that the count asks for in its language", () => {
    const said = (count: number) => wordsIn("en", "board")("waiting.home", { count });
    expect([said(1), said(2)]).toEqual(["1 item needs you", "2 items need you"]);
    expect(wordsIn("ja", "board")("waiting.home", { count: 1 })).toContain("1");
  });

  it("is the view's own, else the common one, else what was said in its place or its key", () => {
    const t = wordsIn("en", "board");
    expect(t("lanes")).toBe("Lanes");
    expect(t("app.close")).toBe("Close");
    expect(t("rejected", { ns: "translation", defaultValue: "–" })).toBe("–");
    expect(t("no.such.word")).toBe("no.such.word");
  });

  it("has its values filled in, numbers as the language writes them", () => {
    expect(wordsIn("en", "team")("tokens", { count: 12345 })).toContain("12,345");
    expect(wordsIn("en", "board")("moved", { title: "{{status}} & <b>", status: "Done" })).toBe(
      "{{status}} & <b>: Done",
    );
    expect(wordsIn("en", "board")("moved", { title: "A" })).toBe("A: ");
  });
});

it("is the language of the browser until another one is chosen", () => {
  expect(language()).toBe("en");
});
