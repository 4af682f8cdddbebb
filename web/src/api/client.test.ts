import { act, renderHook } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Away, Refused, api, onProof, onSignedOut, open, useSilence } from "@/api/client";
import { Following } from "@/api/following";
import { keepPageSecret } from "@/api/secret";
import { chooseLanguage } from "@/i18n";

afterEach(() => {
  chooseLanguage("en");
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A server that answers everything with this; returns what it was asked. */
function answering(answer: () => Response | Promise<Response>): Request[] {
  const asked: Request[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(request);
    return answer();
  });
  return asked;
}

const task = { path: { task_id: "a/b c" } };

describe("a request", () => {
  it("goes to the route's path, with its parameters in their places", async () => {
    const asked = answering(() => Response.json({}));
    await api.get("/usage", { query: { by: ["day", "agent"], project_id: null, days: undefined } });
    await api.post("/tasks/{task_id}/move", { ...task, body: { status: "todo", reason: undefined }, version: 3 });
    const { pathname, search } = new URL(asked[0]?.url ?? "");
    expect([pathname, search]).toEqual(["/api/v1/usage", "?by=day&by=agent"]);
    expect(asked[1]?.url).toMatch(/\/api\/v1\/tasks\/a%2Fb%20c\/move$/);
    expect(asked[1]?.method).toBe("POST");
    expect(asked[1]?.headers.get("If-Match")).toBe('"3"');
    expect(await asked[1]?.json()).toEqual({ status: "todo" });
  });

  it("says that it comes from the page, and which key makes it the same request again", async () => {
    const asked = answering(() => Response.json({}));
    await api.post("/demo", { idempotencyKey: "once" });
    keepPageSecret("tps_1");
    await api.get("/me");
    keepPageSecret(null);
    expect(asked.map((each) => each.headers.get("X-Toryo"))).toEqual(["1", "tps_1"]);
    expect(asked[0]?.headers.get("Idempotency-Key")).toBe("once");
    expect(asked[0]?.headers.get("Content-Type")).toBeNull();
    expect(asked[0]?.credentials).toBe("same-origin");
  });

  it("asks the server to speak the page's language, whatever the browser's is", async () => {
    const asked = answering(() => Response.json({}));
    chooseLanguage("en");
    await api.get("/needs-you");
    chooseLanguage("ja");
    await api.get("/needs-you");
    expect(asked.map((each) => each.headers.get("Accept-Language"))).toEqual(["en", "ja"]);
  });

  it("that is sent while the page goes outlives it", async () => {
    const asked = answering(() => Response.json({}));
    await api.post("/visits", { last: true });
    await api.post("/visits");
    expect(asked.map((each) => each.keepalive)).toEqual([true, false]);
  });
});

describe("an answer", () => {
  it("that refuses says what is wrong and what to do, whatever else it says", async () => {
    answering(() =>
      Response.json({ code: "conflict", detail: "Changed.", instruction: "Again.", version: 4 }, { status: 409 }),
    );
    const refused: unknown = await api.get("/me").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refused);
    expect((refused as Refused).message).toBe("Changed.");
    expect((refused as Refused).problem).toMatchObject({
      status: 409,
      code: "conflict",
      instruction: "Again.",
      version: 4,
    });
  });

  it("of something between that is no problem document is a refusal, too", async () => {
    answering(() => new Response("<h1>Bad gateway</h1>", { status: 502, statusText: "Bad Gateway" }));
    const refused: unknown = await api.get("/me").catch((error: unknown) => error);
    expect((refused as Refused).problem).toMatchObject({ status: 502, title: "Bad Gateway" });
  });

  it("that does not come is no refusal, and what was given up is neither", async () => {
    answering(() => Promise.reject(new TypeError("network")));
    await expect(api.get("/me")).rejects.toBeInstanceOf(Away);
    const leaving = new AbortController();
    answering(() => Promise.reject(leaving.signal.reason as Error));
    leaving.abort();
    await expect(api.get("/me", { signal: leaving.signal })).rejects.toMatchObject({ name: "AbortError" });
  });

  it("that does not know the browser any more is told to who listens, but not at the door", async () => {
    const heard = vi.fn();
    const leave = onSignedOut(heard);
    answering(() => Response.json({}, { status: 401 }));
    await api.get("/me").catch(() => undefined);
    await api.post("/sign-in", { body: { code: "x" } }).catch(() => undefined);
    expect(heard).not.toHaveBeenCalled();
    await api.get("/projects").catch(() => undefined);
    expect(heard).toHaveBeenCalledOnce();
    leave();
  });

  it("that is late is noticed until it comes, and one that was asked to wait is late only after that", async () => {
    vi.useFakeTimers();
    const come: (() => void)[] = [];
    answering(() => new Promise((resolve) => come.push(() => resolve(Response.json({})))));
    const silence = renderHook(() => useSilence()).result;
    const [usual, waits] = [api.get("/me"), api.get("/events", { query: { wait_seconds: 20 } })];
    await act(() => vi.advanceTimersByTimeAsync(5_001));
    expect(silence.current).toBe(true);
    come[0]?.();
    await act(() => usual);
    expect(silence.current).toBe(false);
    await act(() => vi.advanceTimersByTimeAsync(20_000));
    expect(silence.current).toBe(true);
    come[1]?.();
    await act(() => waits);
    expect(silence.current).toBe(false);
  });
});

describe("what no route's document is", () => {
  it("is asked for with the secret, too, and a refusal is one", async () => {
    keepPageSecret("tps_1");
    const asked = answering(() => new Response("bytes"));
    expect(await (await open("/api/v1/tasks/t/artifacts/a")).text()).toBe("bytes");
    keepPageSecret(null);
    expect(asked[0]?.headers.get("X-Toryo")).toBe("tps_1");
    const heard = vi.fn();
    const leave = onSignedOut(heard);
    answering(() => Response.json({ code: "authenticationRequired" }, { status: 401 }));
    await expect(open("/api/v1/tasks/t/artifacts/a")).rejects.toBeInstanceOf(Refused);
    expect(heard).toHaveBeenCalledOnce();
    leave();
  });

  it("is a stream of events that comes in pieces, until it ends", async () => {
    const pieces = [
      'id: 1\ndata: {"a":1}\n',
      "\n: still here\n\nevent: doing\nda",
      'ta: {"b":2}\n\nid: 3\ndata: {"lost',
    ];
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const each of pieces) controller.enqueue(new TextEncoder().encode(each));
        controller.close();
      },
    });
    answering(() => new Response(body));
    const heard: string[] = [];
    const stream = new Following("/api/v1/events/stream");
    for (const type of ["open", "message", "doing"])
      stream.addEventListener(type, (event) => heard.push(`${type} ${(event as MessageEvent<string>).data ?? ""}`));
    await new Promise((over) => stream.addEventListener("error", over));
    expect(heard).toEqual(["open ", 'message {"a":1}', 'doing {"b":2}']);
  });
});

describe("a refusal that asks for proof", () => {
  const refused = () => Response.json({ code: "proofRequired", detail: "Prove it." }, { status: 403 });
  afterEach(() => onProof(null));

  it("is answered by it, and the request is sent again as it was", async () => {
    let proved = false;
    const asked = answering(() => (proved ? Response.json({ token: "x" }) : refused()));
    onProof(() => Promise.resolve((proved = true)));
    expect(await api.post("/access-tokens", { body: { name: "ci" }, idempotencyKey: "k" })).toEqual({ token: "x" });
    expect(await Promise.all(asked.map((each) => each.text()))).toEqual(['{"name":"ci"}', '{"name":"ci"}']);
    expect(asked.map((each) => each.headers.get("Idempotency-Key"))).toEqual(["k", "k"]);
  });

  it("stays one where nobody proves it", async () => {
    answering(refused);
    onProof(() => Promise.resolve(false));
    await expect(api.post("/access-tokens", { body: { name: "ci" } })).rejects.toThrow("Prove it.");
  });
});
