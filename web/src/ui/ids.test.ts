import { expect, it } from "vitest";

import { idOf } from "./ids";

it.each([
  ["Hana Kato", "hana-kato"],
  ["  Élan & Co. ", "elan-co"],
  ["ミカ", ""],
  ["x".repeat(80), "x".repeat(48)],
])("an ID is made of a name as people would choose it: %s", (name, id) => {
  expect(idOf(name, [])).toBe(id);
});

it("an ID that is taken gets a number", () => {
  expect(idOf("Ben", ["ben", "ben-2"])).toBe("ben-3");
});
