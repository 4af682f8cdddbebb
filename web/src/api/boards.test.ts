import { QueryClient } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";

import { merged, notShown, readBoardsWhole, readMore, readOlder } from "@/api/boards";
import type { Board } from "@/api/model";
import { board } from "@/api/queries";
import { card, serve } from "@/testkit";

afterEach(() => vi.unstubAllGlobals());

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const [one, two, three] = [1, 2, 3].map((number) => card({ task_id: `t${number}`, created_at: at(number) })) as [
  ReturnType<typeof card>,
  ReturnType<typeof card>,
  ReturnType<typeof card>,
];
const known: Board = { tasks: [one, two, three], last_event: 7 };
const news = (...tasks: Board["tasks"]) => ({ tasks, whole: false, last_event: 8 });

describe("a board kept by what has changed", () => {
  it("puts what has changed in its place and leaves the other cards the same objects", () => {
    const moved = { ...two, status: "completed" as const, version: 2 };
    const found = merged(known, news(moved));
    expect(found).toEqual({ tasks: [one, moved, three], last_event: 8 });
    expect(found.tasks[0]).toBe(one);
    expect(found.tasks[2]).toBe(three);
  });

  it("is the same list where nothing that is seen has changed", () => {
    expect(merged(known, news()).tasks).toBe(known.tasks);
    expect(merged(known, news({ ...two, dependencies: [] })).tasks).toBe(known.tasks);
    const whole = { tasks: known.tasks.map((each) => ({ ...each })), whole: true, last_event: 9 };
    expect(merged(known, whole)).toEqual({ tasks: known.tasks, last_event: 9 });
    expect(merged(known, whole).tasks).toBe(known.tasks);
  });

  it("sees that what a card waits for has changed", () => {
    const waits = { ...two, dependencies: ["t1"] };
    expect(merged(known, news(waits)).tasks[1]).toBe(waits);
  });

  it("has new cards, and those that became more important, where the server has them", () => {
    const urgent = { ...three, priority: "critical" as const };
    const later = card({ task_id: "t0", created_at: at(4) });
    const [second, first] = [1, 0].map((line_rank) =>
      card({ task_id: `t${9 - line_rank}`, created_at: at(2), line_rank }),
    ) as [ReturnType<typeof card>, ReturnType<typeof card>];
    const found = merged(known, news(later, second, urgent, first));
    expect(found.tasks.map((each) => each.task_id)).toEqual(["t3", "t1", "t2", "t9", "t8", "t0"]);
  });

  it("has only what a whole answer has", () => {
    const found = merged(known, { tasks: [{ ...two }], whole: true, last_event: 1 });
    expect(found).toEqual({ tasks: [two], last_event: 1 });
    expect(found.tasks[0]).toBe(two);
  });

  it("takes the answer of a server that knows no changes for a whole one", () => {
    expect(merged(known, { tasks: [two], last_event: 1 }).tasks).toEqual([two]);
  });
});

describe("reading a board again", () => {
  const asked: (string | null)[] = [];
  function client(): QueryClient {
    asked.length = 0;
    serve({
      "GET /projects/shop/board": ({ query }) => {
        asked.push(new URLSearchParams(query).get("after"));
        return asked.length === 1 ? { ...known, whole: true } : news({ ...two, title: "Anew" });
      },
    });
    return new QueryClient();
  }
  const read = (from: QueryClient) => from.fetchQuery({ ...board("shop"), staleTime: 0 });

  it("asks for what has happened since, and keeps what somebody has put on a card meanwhile", async () => {
    const kept = client();
    await read(kept);
    kept.setQueryData<Board>(
      ["board", "shop"],
      (now) => now && { ...now, tasks: [{ ...one, status: "blocked" }, two] },
    );
    const { tasks } = await read(kept);
    expect(asked).toEqual([null, "7"]);
    expect(tasks.map((each) => [each.status, each.title])).toEqual([
      ["blocked", "t1"],
      ["todo", "Anew"],
    ]);
  });

  it("asks for everything where it may not trust what it has", async () => {
    const kept = client();
    await read(kept);
    readBoardsWhole(kept);
    await read(kept);
    expect(asked).toEqual([null, null]);
  });
});

describe("tasks that were closed earlier", () => {
  it("are added on demand, page by page, and stay when something changes", async () => {
    const { queryKey } = board("shop");
    const client = new QueryClient();
    client.setQueryData(queryKey, { tasks: [two], older: "page-2", last_event: 7 });
    const asked = serve({ "GET /projects/shop/board": { tasks: [one], whole: false, older: null, last_event: 9 } });
    await readOlder(client, queryKey, "shop");
    expect(asked.at(-1)?.query).toBe("?older=page-2");
    const now = client.getQueryData<Board>(queryKey);
    expect(now).toEqual({ tasks: [one, two], older: null, last_event: 7 });
    expect(merged(now, news()).tasks).toEqual([one, two]);
    await readOlder(client, queryKey, "shop");
    expect(asked).toHaveLength(1);
  });

  it("are not added to a board that has been read whole in the meantime", async () => {
    const { queryKey } = board("shop");
    const client = new QueryClient();
    client.setQueryData(queryKey, { tasks: [two], older: "page-2", last_event: 7 });
    serve({ "GET /projects/shop/board": { tasks: [one], whole: false, older: null, last_event: 9 } });
    const reading = readOlder(client, queryKey, "shop");
    const whole = { tasks: [two, three], older: "page-1", last_event: 12 };
    client.setQueryData(queryKey, whole);
    await reading;
    expect(client.getQueryData(queryKey)).toEqual(whole);
  });
});

describe("open tasks that are not on the board yet", () => {
  const todo = (count: number, more: string | null) => [{ status: "todo" as const, count, more }];
  const begun: Board = { tasks: [one], columns: todo(3, "page-2"), older: null, last_event: 7 };

  it("are counted, also after something has changed", () => {
    expect(notShown(begun)).toEqual(new Map([["todo", 2]]));
    const moved = { ...three, status: "completed" as const };
    const now = merged(begun, { ...news(moved), columns: todo(2, null) });
    expect(notShown(now)).toEqual(new Map([["todo", 1]]));
    expect(now.columns).toEqual(todo(2, "page-2"));
    expect(notShown(known)).toEqual(new Map());
  });

  it("are added on demand, page by page", async () => {
    const { queryKey } = board("shop");
    const client = new QueryClient();
    client.setQueryData(queryKey, begun);
    const asked = serve({
      "GET /projects/shop/board": {
        tasks: [two, three],
        whole: false,
        columns: todo(3, null),
        older: null,
        last_event: 9,
      },
    });
    await readMore(client, queryKey, "shop", "blocked");
    expect(asked).toHaveLength(0);
    await readMore(client, queryKey, "shop", "todo");
    expect(asked.at(-1)?.query).toBe("?more=page-2");
    const now = client.getQueryData<Board>(queryKey);
    expect(now).toEqual({ tasks: [one, two, three], columns: todo(3, null), older: null, last_event: 7 });
    expect(notShown(now ?? begun)).toEqual(new Map());
  });

  it("are not added to a board that has been read whole in the meantime", async () => {
    const { queryKey } = board("shop");
    const client = new QueryClient();
    client.setQueryData(queryKey, begun);
    serve({ "GET /projects/shop/board": { tasks: [two], whole: false, columns: todo(3, null), last_event: 9 } });
    const reading = readMore(client, queryKey, "shop", "todo");
    const whole = { tasks: [one], columns: todo(3, "page-1"), older: null, last_event: 12 };
    client.setQueryData(queryKey, whole);
    await reading;
    expect(client.getQueryData(queryKey)).toEqual(whole);
  });
});
