import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { Refused } from "@/api/client";
import type { Agent } from "@/api/model";
import { EMPTY, bodyOf, editOf, fieldsOf, wrongOptions } from "@/views/settings/agent-fields";
import { changed, type Fields } from "@/views/settings/editing";
import { bodyOf as projectBody } from "@/views/settings/project-fields";
import { useEditing, type Seen } from "@/views/settings/use-editing";

const conflict = new Refused({
  status: 409,
  code: "conflict",
  title: "",
  detail: "It has been changed since you looked.",
  instruction: "Look again.",
  version: 2,
});

/** A thing on a server that somebody else may change. */
function thing(fields: Fields) {
  const there: Seen & { sent: Fields[] } = { fields, version: 1, sent: [] };
  const store = (changes: Fields, version: number): Promise<Seen> => {
    if (version !== there.version) return Promise.reject(conflict);
    there.sent.push(changes);
    Object.assign(there, { fields: { ...there.fields, ...changes }, version: version + 1 });
    return Promise.resolve({ fields: there.fields, version: there.version });
  };
  const look = () => Promise.resolve({ fields: there.fields, version: there.version });
  const { result } = renderHook(() => useEditing("thing", { fields, version: 1 }, look, store));
  return { there, result };
}

describe("a form over what others may change", () => {
  it("sends only what was changed", async () => {
    const { there, result } = thing({ name: "House", budget: "5" });
    act(() => result.current.set("name")("Home"));
    await act(async () => expect(await result.current.save()).toBe(true));
    expect(there.sent).toEqual([{ name: "Home" }]);
    expect(result.current.dirty).toBe(false);
  });

  it("keeps what was typed on a conflict, takes over what others changed, and saves on top of it", async () => {
    const { there, result } = thing({ name: "House", budget: "5" });
    act(() => result.current.set("name")("Home"));
    Object.assign(there, { fields: { name: "House", budget: "9" }, version: 2 });
    await act(async () => expect(await result.current.save()).toBe(false));
    expect(result.current.draft).toEqual({ name: "Home", budget: "9" });
    expect(result.current.theirs).toEqual({});
    await act(async () => expect(await result.current.save()).toBe(true));
    expect(there.fields).toEqual({ name: "Home", budget: "9" });
  });

  it("names the fields that both have changed, with the other's value", async () => {
    const { there, result } = thing({ name: "House" });
    act(() => result.current.set("name")("Home"));
    Object.assign(there, { fields: { name: "Castle" }, version: 2 });
    await act(async () => void (await result.current.save()));
    expect(result.current.theirs).toEqual({ name: "Castle" });
    expect(result.current.draft).toEqual({ name: "Home" });
  });
});

describe("an agent as fields", () => {
  const agent = {
    name: "Anna",
    role: "worker",
    capabilities: ["oak"],
    max_parallel_tasks: 1,
    system_prompt: "",
    reports_to: null,
    provider: "claude",
    model: null,
    agent_type: null,
    provider_options: { fallback: { provider: "gemini", account: "ours" }, playbook: "x.yaml", labels: ["gpu"] },
    version: 3,
  } as unknown as Agent;

  it("loses no option that the form does not know", () => {
    const { fields } = fieldsOf(agent);
    const draft = { ...fields, permissions: "edit" };
    expect(bodyOf(changed(fields, draft), draft)).toEqual({
      provider_options: {
        fallback: { provider: "gemini", account: "ours" },
        playbook: "x.yaml",
        labels: ["gpu"],
        permissions: "edit",
      },
    });
  });

  it("shows commands as lines, and sends none with full, which allows all", () => {
    const { fields } = fieldsOf({ ...agent, provider_options: { commands: ["pytest", "npm test"] } } as Agent);
    expect(fields["commands"]).toBe("pytest\nnpm test");
    const more = { ...fields, commands: " pytest -k a,b \n\nruff check\n" };
    expect(bodyOf(changed(fields, more), more)).toEqual({
      provider_options: { commands: ["pytest -k a,b", "ruff check"] },
    });
    const all = { ...fields, permissions: "full" };
    expect(bodyOf(changed(fields, all), all)).toEqual({ provider_options: { permissions: "full" } });
  });

  it("shows fallbacks as lines, and sends them as they were stored", () => {
    const several = [
      { provider: "claude", account: "second" },
      { provider: "gemini", model: "gemini-2.5-flash" },
    ];
    const { fields } = fieldsOf({ ...agent, provider_options: { fallback: several } } as Agent);
    expect(fields["fallback"]).toBe("claude (second)\ngemini gemini-2.5-flash");
    const draft = { ...fields, labels: "gpu" };
    expect(bodyOf(changed(fields, draft), draft)).toEqual({ provider_options: { fallback: several, labels: ["gpu"] } });
    const less = { ...fields, fallback: "  claude opus (second) \n" };
    expect(bodyOf(changed(fields, less), less)).toEqual({
      provider_options: { fallback: { provider: "claude", model: "opus", account: "second" } },
    });
  });

  it("leaves a fallback that fits on no line among the other options", () => {
    const odd = { provider: "our model", account: "a (b)" };
    const { fields } = fieldsOf({ ...agent, provider_options: { fallback: odd } } as Agent);
    expect(fields["fallback"]).toBe("");
    const draft = { ...fields, labels: "gpu" };
    expect(bodyOf(changed(fields, draft), draft)).toEqual({ provider_options: { fallback: odd, labels: ["gpu"] } });
  });

  it("sends nothing while a line names no program", () => {
    const { fields } = fieldsOf(agent);
    for (const line of ["claude opus sonnet", "(second)", "claude (second", "claude second) x"]) {
      expect(wrongOptions({ ...fields, fallback: `gemini\n${line}` })).toBe(true);
    }
    expect(wrongOptions({ ...fields, fallback: "\n gemini \n" })).toBe(false);
  });

  it("sends all options that it shows as all that there are", () => {
    const { fields } = fieldsOf(agent);
    const draft = { ...fields, labels: "" };
    expect(editOf(changed(fields, draft), draft)).toEqual({
      provider_options: { fallback: { provider: "gemini", account: "ours" }, playbook: "x.yaml" },
      replace_options: true,
    });
  });

  it("sends nothing for what was emptied, and lists as lists", () => {
    const { fields } = fieldsOf(agent);
    const draft = { ...fields, provider: "", capabilities: "oak, larch" };
    expect(bodyOf(changed(fields, draft), draft)).toEqual({ provider: null, capabilities: ["oak", "larch"] });
    expect(bodyOf(changed(EMPTY, EMPTY), EMPTY)).toEqual({});
  });
});

describe("a project as fields", () => {
  it("tells an empty budget as none, and settings apart from its own values", () => {
    expect(projectBody({ name: "Home", budget_per_day: "", tree_depth: "3" })).toEqual({
      name: "Home",
      settings: { budget_per_day: null, tree_depth: "3" },
    });
  });
});
