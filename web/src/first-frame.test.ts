// The frame in index.html stands outside of what the build puts together: it repeats colours, which are compared here.
import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

it("has the colours of the theme", () => {
  const [page, theme] = [readFileSync("index.html", "utf8"), readFileSync("src/theme.css", "utf8")];
  const colours = [...page.matchAll(/light-dark\([^)]*\)/g)].map(([colour]) => colour);
  expect(colours.length).toBeGreaterThan(3);
  expect(colours.filter((each) => !theme.includes(each))).toEqual([]);
});
