import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { TELLING, telling, todosOf, toolName, usedOf } from "@/ui/transcript/telling";

describe("the row of a call", () => {
  it("shows the same argument as the line on what an agent does now", () => {
    const coordinators = readFileSync("../src/toryo/coordinator/doing.py", "utf8");
    const told = /_TELLING = \(([\s\S]*?)\n\)/.exec(coordinators)?.[1] ?? "";
    expect([...told.matchAll(/"(\w+)"/g)].map((each) => each[1])).toEqual(TELLING);
  });

  it("shows what says most, in one line", () => {
    expect(telling('{"description": "Run", "command": "pytest -q\\nmore"}')).toBe("pytest -q");
    expect(telling('{"command": ["git", "log"]}')).toBe("git log");
    expect(telling('{"odd": 1, "words": "some words"}')).toBe("some words");
    expect(telling("/bin/bash -lc ls")).toBe("/bin/bash -lc ls");
    expect(telling('{"broken": ')).toBe('{"broken": ');
    expect(telling("{}")).toBe("");
  });

  it("names the tool without its server", () => {
    const names = [
      "mcp__toryo__get_my_task",
      "mcp_toryo_get_my_task",
      "toryo.get_my_task",
      "toryo-get_my_task",
      "Bash",
    ];
    expect(names.map(toolName)).toEqual([...Array<string>(4).fill("get_my_task"), "Bash"]);
  });

  it("has the ticks of a list that the call writes", () => {
    const claude = '{"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]}';
    expect(todosOf("TodoWrite", claude)).toEqual([
      { text: "a", state: "done" },
      { text: "b", state: "doing" },
    ]);
    expect(todosOf("write_todos", '{"todos": [{"description": "a", "status": "pending"}]}')).toEqual([
      { text: "a", state: "open" },
    ]);
    expect(todosOf("update_plan", '{"plan": [{"step": "a", "status": "completed"}, 7, null]}')).toHaveLength(3);
    expect(todosOf("Bash", claude)).toBeNull();
    expect(todosOf("TodoWrite", "{")).toBeNull();
  });

  it("says what a turn used", () => {
    expect(usedOf("1200 in · 34 out · 1000 cached · $0.0123")).toEqual({
      read: 1200,
      written: 34,
      cached: 1000,
      cost: "$0.0123",
    });
    expect(usedOf("1 in · 2 out").cost).toBeNull();
  });
});
