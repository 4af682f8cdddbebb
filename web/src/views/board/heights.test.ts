import { describe, expect, it } from "vitest";

import { card } from "@/testkit";
import { firstGuess, kindOf } from "@/views/board/heights";

const guess = (given: Parameters<typeof card>[0], px = 220) => firstGuess(kindOf(card(given), px));

describe("how high a card is guessed to be", () => {
  it("grows with the lines of its title, up to two", () => {
    const words = (count: number) => guess({ task_id: "t", title: "word ".repeat(count) });
    expect(words(1)).toBeLessThan(words(8));
    expect(words(8)).toBe(words(400));
  });

  it("counts Japanese letters as wide", () => {
    expect(guess({ task_id: "t", title: "庭の扉の古い蝶番を直してください" })).toBeGreaterThan(
      guess({ task_id: "t", title: "fix a hinge" }),
    );
  });

  it("leaves room for what stands below the title", () => {
    const plain = guess({ task_id: "t" });
    expect(guess({ task_id: "t", assignee_id: "ada" })).toBeGreaterThan(plain);
    expect(guess({ task_id: "t", assignee_id: "ada", attempt: 2 })).toBe(guess({ task_id: "t", attempt: 2 }));
    expect(guess({ task_id: "t", running: true })).toBeGreaterThan(guess({ task_id: "t", attempt: 2 }));
    expect(guess({ task_id: "t", attempt: 2 })).toBeGreaterThan(plain);
    expect(guess({ task_id: "t", approval: "pending_approval" })).toBeGreaterThan(plain);
    expect(guess({ task_id: "t", status: "blocked", blocked_reason: "No key." })).toBeGreaterThan(plain);
  });

  it("is a guess even for a card without a word in a column without width", () => {
    expect(guess({ task_id: "t", title: "" }, 0)).toBeGreaterThan(30);
  });
});
