import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { mayMove, moveCard } from "@/api/actions";
import { Refused } from "@/api/client";
import type { Board } from "@/api/model";
import { card, fullTask, refusal, serve } from "@/testkit";

const KEY = ["board", "shop"];
let client: QueryClient;

function statusOf(taskId: string) {
  return client.getQueryData<Board>(KEY)?.tasks.find((each) => each.task_id === taskId)?.status;
}

beforeEach(() => {
  client = new QueryClient();
  client.setQueryData<Board>(KEY, {
    tasks: [card({ task_id: "t1", version: 4 }), card({ task_id: "t2" })],
    last_event: 0,
  });
});
afterEach(() => vi.unstubAllGlobals());

describe("a card that is moved", () => {
  it("stands in its new column before the server has answered, and says which version it has seen", async () => {
    let answer: (task: object) => void = () => undefined;
    const asked = serve({ "POST /tasks/t1/move": () => new Promise<object>((resolve) => (answer = resolve)) });
    const moved = moveCard(client, "shop", card({ task_id: "t1", version: 4 }), "in_progress");
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    expect(statusOf("t1")).toBe("in_progress");
    answer({ task: fullTask({ task_id: "t1", status: "in_progress", version: 5 }) });
    expect((await moved).version).toBe(5);
    expect(asked[0]).toMatchObject({ body: { status: "in_progress" }, version: '"4"' });
  });

  it("goes back with the server's words when it is refused; what others changed meanwhile stays", async () => {
    serve({
      "POST /tasks/t1/move": () => {
        client.setQueryData<Board>(KEY, (now) => ({
          last_event: 1,
          tasks: (now?.tasks ?? []).map((each) => (each.task_id === "t2" ? { ...each, status: "completed" } : each)),
        }));
        return refusal(409, "invalidTransition", "Its parts are not done.", "Complete them first.");
      },
    });
    const refused = await moveCard(client, "shop", card({ task_id: "t1" }), "completed").catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(Refused);
    expect((refused as Refused).problem.detail).toBe("Its parts are not done.");
    expect([statusOf("t1"), statusOf("t2")]).toEqual(["todo", "completed"]);
  });

  it("shows what the server made of it, where that is something else", async () => {
    serve({ "POST /tasks/t1/move": { task: fullTask({ task_id: "t1", status: "blocked", version: 9 }) } });
    await moveCard(client, "shop", card({ task_id: "t1" }), "in_progress");
    expect(statusOf("t1")).toBe("blocked");
  });
});

describe("taking back a move", () => {
  it("is possible only where the server says so", async () => {
    const says = (status: string, allowed: boolean) => ({ status, allowed });
    serve({ "GET /tasks/t1/moves": { moves: [says("todo", true), says("backlog", false)] } });
    expect(await mayMove(client, "t1", "todo")).toBe(true);
    expect(await mayMove(client, "t1", "backlog")).toBe(false);
    expect(await mayMove(client, "unknown", "todo")).toBe(false);
  });
});
