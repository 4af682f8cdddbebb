// The stream of events: what has happened makes stale what it concerns. After a break it goes on where it stopped.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";

import { readBoardsWhole } from "@/api/boards";
import type { Event } from "@/api/model";

export type Liveness = "live" | "reconnecting" | "off";

let state: Liveness = "off";
let last = 0;
const listeners = new Set<() => void>();
const hearers = new Set<(event: Event) => void>();

function become(next: Liveness): void {
  if (next === state) return;
  state = next;
  for (const each of listeners) each();
}

export function useLiveness(): Liveness {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => state,
  );
}

/** Hears every event while the component is there. */
export function useEvents(hear: (event: Event) => void): void {
  useEffect(() => {
    hearers.add(hear);
    return () => {
      hearers.delete(hear);
    };
  }, [hear]);
}

/** Keeps one stream open while the component is there. `since`: the newest event when the page had read nothing else:
 * what happens while it reads is told, too. */
export function useStream(since: number): void {
  const client = useQueryClient();
  const [begin] = useState(since);
  useEffect(() => {
    last = Math.max(last, begin);
    const stream = new Stream(client);
    stream.open();
    return () => stream.close();
  }, [client, begin]);
}

class Stream {
  private source: EventSource | null = null;
  private retry: number | undefined;
  private broken = false;
  private readonly stale: Stale;

  constructor(private readonly client: QueryClient) {
    this.stale = new Stale(client);
  }

  open(): void {
    this.source = new EventSource(`/api/v1/events/stream?after=${last}`);
    this.source.addEventListener("open", () => {
      become("live");
      if (this.broken) this.readAgain();
      this.broken = false;
    });
    this.source.addEventListener("message", (message: MessageEvent<string>) => this.heard(message));
    this.source.addEventListener("pruned", () => this.readAgain()); // some events are no longer kept
    this.source.addEventListener("error", () => this.lost());
  }

  close(): void {
    window.clearTimeout(this.retry);
    this.source?.close();
    become("off");
  }

  /** What a break swallowed is read again, once: all of it, for it may be another server that answers now. */
  private readAgain(): void {
    readBoardsWhole(this.client);
    void this.client.invalidateQueries();
  }

  private heard(message: MessageEvent<string>): void {
    const event = JSON.parse(message.data) as Event;
    last = Math.max(last, event.sequence);
    this.stale.add(event);
    for (const each of hearers) each(event);
  }

  /** The browser gives up on some failures (a server that restarts): so we try again ourselves, always. */
  private lost(): void {
    this.broken = true;
    become("reconnecting");
    this.source?.close();
    void this.client.invalidateQueries({ queryKey: ["me"] }); // leads to the sign-in page after a sign-out
    this.retry = window.setTimeout(() => this.open(), 1000);
  }
}

const TOGETHER_MS = 16;
const APART_MS = 120;
const MOST_MS = 2000;

/** Collects what must be read again. A burst of events reads each query once, and again only after it has finished. */
class Stale {
  private readonly waiting = new Set<string>();
  private reading = false;

  constructor(private readonly client: QueryClient) {}

  add(event: Event): void {
    for (const key of keysOf(event)) this.waiting.add(JSON.stringify(key));
    if (this.reading) return;
    this.reading = true;
    window.setTimeout(() => void this.read(), TOGETHER_MS);
  }

  private async read(): Promise<void> {
    while (this.waiting.size > 0) {
      const keys = [...this.waiting].map((each) => JSON.parse(each) as unknown[]);
      this.waiting.clear();
      const come = Promise.allSettled(keys.map((queryKey) => this.again(queryKey)));
      await Promise.race([Promise.all([come, after(APART_MS)]), after(MOST_MS)]); // what hangs holds nothing else up
    }
    this.reading = false;
  }

  /** A first answer that is still on its way may be older than the event: it is waited for, and asked for once more. */
  private async again(queryKey: unknown[]): Promise<void> {
    const underWay = this.client.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" });
    const first = underWay.filter((query) => query.state.data === undefined);
    await this.client.invalidateQueries({ queryKey });
    if (first.length > 0) await this.client.invalidateQueries({ predicate: (query) => first.includes(query) });
  }
}

function after(milliseconds: number): Promise<void> {
  return new Promise((done) => window.setTimeout(done, milliseconds));
}

/** What an event makes stale. A stale board is read from its `last_event` on, not as a whole. */
export function keysOf(event: Event): unknown[][] {
  const [noun] = event.kind.split(".");
  const keys: unknown[][] = [["overview"], ["events"]];
  if (event.task_id) keys.push(["task", event.task_id], ["moves", event.task_id]);
  if (event.project_id && (event.task_id || noun === "session")) keys.push(["board", event.project_id]); // or who is at work
  if (event.agent_id) keys.push(["why", event.agent_id]);
  if (noun === "agent" || noun === "member") keys.push(["agents"]);
  if (noun === "project") keys.push(["projects"], ["members"], ["demo"]);
  if (noun === "session" || noun === "launch") keys.push(["sessions"], ["launches"], ["usage"]);
  if (["session", "launch", "agent", "account", "project"].includes(noun ?? "")) keys.push(["chats"], ["chat"]); // whether an agent is there to talk
  if (["message", "conversation", "chat", "delegation"].includes(noun ?? ""))
    keys.push(["chats"], ["chat"], ["conversations"]);
  if (noun === "worktree") keys.push(["worktrees"], ["worktree"]);
  if (noun === "state") keys.push(["shared"]);
  if (noun === "key") keys.push(["keys"]);
  if (noun === "person") keys.push(["sign-ins"], ["people"], ["access-tokens"]);
  return keys;
}
