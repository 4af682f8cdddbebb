import { Plus } from "lucide-react";
import { describe, expect, it } from "vitest";

import { found, type Group, type PaletteCommand } from "@/app/finding";

const command = (group: Group, words: string, more = ""): PaletteCommand => ({
  id: `${group} ${words}`,
  group,
  icon: Plus,
  words,
  more,
  run: () => undefined,
});
const named = (all: PaletteCommand[], asked: string) =>
  found(all, asked).map(({ group, commands }) => [group, commands.map((each) => each.words)]);

describe("the palette", () => {
  it("finds what has every word, in any order and case, also by an id", () => {
    const all = [command("tasks", "Pay with a card", "tsk_1"), command("tasks", "Pay by transfer", "tsk_2")];
    expect(named(all, "CARD pay")).toEqual([["tasks", ["Pay with a card"]]]);
    expect(named(all, "tsk_2")).toEqual([["tasks", ["Pay by transfer"]]]);
    expect(named(all, "nothing of it")).toEqual([]);
  });

  it("puts what begins with the letters before what contains them, and doing before going", () => {
    const all = [command("go", "Board"), command("tasks", "Old board"), command("tasks", "Board of directors")];
    expect(named(all, "board")).toEqual([
      ["go", ["Board"]],
      ["tasks", ["Board of directors", "Old board"]],
    ]);
  });

  it("shows few tasks before anything is asked, and never thousands", () => {
    const all = Array.from({ length: 5000 }, (_, number) => command("tasks", `Task ${number}`));
    expect(found(all, "")[0]?.commands).toHaveLength(5);
    expect(found(all, "task")[0]?.commands).toHaveLength(20);
  });
});
