import { QueryClient } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";

import { launchHistory, taskMessages } from "@/api/whole-lists";
import { allOf } from "@/views/timeline/lanes";

import type { Launch } from "./model";

afterEach(() => vi.unstubAllGlobals());

/** A server whose list has this many pages of one item each; records the requests. */
function pages(key: string, many: number): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async ({ url }: Request) => {
    asked.push(url);
    const at = Number(new URL(url).searchParams.get("cursor") ?? 0);
    const more = at + 1 < many ? { next_cursor: String(at + 1) } : {};
    return Response.json({ [key]: [{ launch_id: `l${at}`, message_id: `m${at}` }], ...more });
  });
  return asked;
}

describe("a list that is read to its end", () => {
  it("goes on until there is no more", async () => {
    const asked = pages("launches", 4);
    const found = await new QueryClient().fetchQuery(launchHistory("shop"));
    expect(found.map((each) => each.launch_id)).toEqual(["l0", "l1", "l2", "l3"]);
    expect(asked).toHaveLength(4);
    expect(asked.every((each) => each.includes("project_id=shop"))).toBe(true);
  });

  it("stops somewhere, however long it is", async () => {
    const asked = pages("messages", 1_000);
    const found = await new QueryClient().fetchQuery(taskMessages("t1"));
    expect(found).toHaveLength(30);
    expect(asked).toHaveLength(30);
  });
});

describe("launches of now and before", () => {
  it("are shown once each, as they are now", () => {
    const launch = (launch_id: string, state: string) => ({ launch_id, state }) as Launch;
    const shown = allOf([launch("b", "ended")], [launch("b", "ordered"), launch("a", "ended")]);
    expect(shown.map((each) => [each.launch_id, each.state])).toEqual([
      ["b", "ended"],
      ["a", "ended"],
    ]);
  });
});
