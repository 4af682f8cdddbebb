import { afterEach, describe, expect, it, vi } from "vitest";
import { renderHook } from "@testing-library/react";

import type { Message } from "@/api/model";
import { queryClient } from "@/api/queries";
import { drop, say, sayAgain, useOutbox } from "@/views/chat/outbox";
import { thread, type Thread } from "@/views/chat/thread";

const ME = "owner";
const between = { projectId: "prj", agentId: "clerk" };

function message(sequence: number, content: string, from = ME): Message {
  return {
    message_id: `msg_${sequence}`,
    from_agent_id: from,
    from_name: from,
    from_kind: "human",
    to_agent_id: "clerk",
    kind: "message",
    content,
    conversation_id: null,
    related_task_id: null,
    created_at: "2026-01-01T00:00:00Z",
    sequence,
  };
}

function known(...messages: Message[]): Thread {
  const status = { state: "connected", explanation: "", summary: "" } as const;
  return { messages, last: 0, unread: 0, observing: false, status, conversation: null, more: false };
}

const answer = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status }));
const waiting = () => renderHook(() => useOutbox(between)).result.current;
const shown = () => queryClient.getQueryData(thread(between).queryKey)?.messages.map((each) => each.content);

afterEach(() => {
  vi.unstubAllGlobals();
  for (const each of waiting()) drop(between, each.key);
  queryClient.clear();
});

describe("what is being sent", () => {
  it("is shown at once, and stands in the thread when the server has taken it", async () => {
    queryClient.setQueryData(thread(between).queryKey, known(message(1, "before")));
    vi.stubGlobal("fetch", () => answer({ message: message(2, "hello") }, 201));
    const sent = say(between, "hello");
    expect(waiting().map((each) => [each.content, each.state])).toEqual([["hello", "sending"]]);
    await sent;
    expect(waiting()).toEqual([]);
    expect(shown()).toEqual(["before", "hello"]);
  });

  it("stays with the server's reason where it is refused, and goes out when it is sent again", async () => {
    queryClient.setQueryData(thread(between).queryKey, known());
    vi.stubGlobal("fetch", () => answer({ code: "rateLimited", detail: "At most 30 a minute." }, 429));
    await say(between, "hello");
    const [failed] = waiting();
    expect(failed?.state).toBe("failed");
    expect((failed?.error as Error).message).toBe("At most 30 a minute.");
    vi.stubGlobal("fetch", () => answer({ message: message(1, "hello") }, 201));
    if (failed !== undefined) await sayAgain(between, failed, ME);
    expect([waiting(), shown()]).toEqual([[], ["hello"]]);
  });

  it("is not sent twice where only the answer was lost", async () => {
    queryClient.setQueryData(thread(between).queryKey, known(message(1, "hello")));
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("network")));
    await say(between, "hello"); // the same words as before: only what came after counts
    const [failed] = waiting();
    const asked: string[] = [];
    vi.stubGlobal("fetch", (request: Request) => {
      asked.push(request.method);
      return answer({ ...known(message(2, "hello")), last: 2 });
    });
    if (failed !== undefined) await sayAgain(between, failed, ME);
    expect(asked).toEqual(["GET"]);
    expect([waiting(), shown()]).toEqual([[], ["hello", "hello"]]);
  });
});
