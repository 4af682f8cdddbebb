import { describe, expect, it } from "vitest";

import type { Agent, BoardTask, Me } from "@/api/model";
import { judges } from "@/views/task/judging";

const person = (person_id: string, login: Me["login"] = "member") => ({ person_id, login, name: "", version: "" });
const agent = (agent_id: string, reports_to: string | null) => ({ agent_id, reports_to }) as Agent;
const card = (task_id: string, parent_task_id: string | null, assignee_id: string) =>
  ({ task_id, parent_task_id, assignee_id }) as BoardTask;

const team = [agent("boss", null), agent("lead", "boss"), agent("ida", "lead")];
const cards = [card("top", null, "mia"), card("middle", "top", "lead")];
const request = { assignee_id: "ida", parent_task_id: "middle" };

describe("who judges a request", () => {
  it.each([
    ["an owner", person("anybody", "owner"), true],
    ["the superior of its assignee", person("lead"), true],
    ["who stands above that one", person("boss"), true],
    ["who has a task above it", person("mia"), true],
    ["its assignee itself", person("ida"), false],
    ["a worker", person("worker"), false],
  ])("%s", (_, who, may) => {
    expect(judges(who, request, team, cards)).toBe(may);
  });

  it("ends where a chain has no end", () => {
    const round = [agent("one", "two"), agent("two", "one")];
    expect(judges(person("worker"), { assignee_id: "one", parent_task_id: null }, round, [])).toBe(false);
  });
});
