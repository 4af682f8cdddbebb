import { afterEach, describe, expect, it, vi } from "vitest";

import type { ChatPage, Message } from "@/api/model";
import { queryClient } from "@/api/queries";
import { merged, read, readOlder, thread, type Thread } from "@/views/chat/thread";

const between = { projectId: "prj", agentId: "clerk" };
const one = (sequence: number) => ({ sequence, content: `no. ${sequence}` }) as Message;
const some = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, place) => one(from + place));

function page(messages: Message[]): ChatPage {
  const status = { state: "connected", explanation: "", summary: "" } as const;
  return { messages, last: 0, unread: 0, observing: false, status, conversation: null };
}

/** A server with 500 messages that answers as the real one does. */
function stubServer(): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", ({ url }: Request) => {
    asked.push(url);
    const query = new URL(url).searchParams;
    const limit = Number(query.get("limit"));
    const after = query.get("after");
    const before = Number(query.get("before") ?? 501);
    const found =
      after === null ? some(Math.max(1, before - limit), before - 1) : some(Number(after) + 1, 500).slice(0, limit);
    return Promise.resolve(new Response(JSON.stringify(page(found))));
  });
  return asked;
}

const span = ({ messages }: Thread) => [messages[0]?.sequence, messages.at(-1)?.sequence, messages.length];

afterEach(() => {
  vi.unstubAllGlobals();
  queryClient.clear();
});

describe("a thread", () => {
  it("begins with the newest messages", async () => {
    stubServer();
    const found = await read(between, undefined);
    expect([...span(found), found.more]).toEqual([451, 500, 50, true]);
  });

  it("has no gap after a long absence: it reads on until nothing more comes", async () => {
    stubServer();
    const found = await read(between, { ...page(some(1, 20)), more: false });
    expect(span(found)).toEqual([1, 500, 500]);
  });

  it("puts older messages before those that are here, once each", async () => {
    stubServer();
    queryClient.setQueryData(thread(between).queryKey, { ...page(some(41, 60)), more: true });
    await readOlder(queryClient, between);
    const found = queryClient.getQueryData(thread(between).queryKey);
    expect(found && span(found)).toEqual([1, 60, 60]);
    expect(found?.more).toBe(false);
  });

  it("shows a message once, in the server's order, whichever way it came", () => {
    expect(merged([one(1), one(3)], [one(2), one(3)]).map((each) => each.sequence)).toEqual([1, 2, 3]);
  });
});
