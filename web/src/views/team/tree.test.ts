import { describe, expect, it } from "vitest";

import type { Agent } from "@/api/model";

import { changedFields, editOf, forest, formOf, possibleSuperiors, type Branch } from "./tree";

function agent(id: string, reports_to: string | null = null, more: Partial<Agent> = {}): Agent {
  return {
    agent_id: id,
    name: id,
    kind: "ai",
    role: "worker",
    reports_to,
    provider: "claude",
    model: null,
    agent_type: null,
    capabilities: ["wood"],
    status: "active",
    max_parallel_tasks: 1,
    system_prompt: "",
    ...more,
  } as Agent;
}

const names = (branches: Branch[]): unknown[] =>
  branches.map((each) => [each.agent.agent_id + (each.outside ? "?" : ""), ...names(each.below)]);

describe("the tree", () => {
  it("has members under those whom they report to, the higher role first", () => {
    const all = [
      agent("boss", null, { role: "owner" }),
      agent("b", "boss"),
      agent("a", "boss", { role: "manager" }),
      agent("c", "a"),
    ];
    expect(names(forest(all, ["boss", "a", "b", "c"]))).toEqual([["boss", ["a", ["c"]], ["b"]]]);
  });

  it("shows a superior from outside where it leads to a member, and nobody else from there", () => {
    const all = [agent("boss"), agent("a", "boss"), agent("stranger", "boss")];
    expect(names(forest(all, ["a"]))).toEqual([["boss?", ["a"]]]);
  });

  it("loses nobody whose superior is gone, nor in a circle", () => {
    expect(names(forest([agent("a", "gone")], ["a"]))).toEqual([["a"]]);
    expect(
      names(forest([agent("a", "b"), agent("b", "a")], ["a", "b"]))
        .flat(9)
        .sort(),
    ).toEqual(["a", "b"]);
  });

  it("offers nobody as a superior who stands below", () => {
    const [boss, a, b, c] = [agent("boss"), agent("a", "boss"), agent("b", "a"), agent("c")];
    expect(possibleSuperiors([boss, a, b, c], a)).toEqual([boss, c]);
  });

  it("offers nobody who is deactivated, but for who is the superior already", () => {
    const off = (id: string) => ({ ...agent(id), status: "inactive" as const });
    const [old, gone, a] = [off("old"), off("gone"), agent("a", "old")];
    expect(possibleSuperiors([old, gone, a], a)).toEqual([old]);
  });
});

describe("the form", () => {
  it("sends nothing where nothing was changed", () => {
    const before = agent("a", "boss");
    expect(changedFields(before, formOf(before))).toEqual({});
  });

  it("sends only what differs, and null for what was emptied", () => {
    const before = agent("a", "boss");
    const form = { ...formOf(before), reportsTo: "", capabilities: "wood, steel" };
    expect(changedFields(before, form)).toEqual({ reports_to: null, capabilities: ["wood", "steel"] });
  });

  it("gives a person no program", () => {
    const form = { ...formOf(agent("a")), kind: "human" as const, provider: "claude", model: "x", name: "Mika" };
    expect(editOf(form)).toMatchObject({ provider: null, model: null });
  });
});
