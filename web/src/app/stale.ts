// What must be read again because something happened: which queries an event makes stale, and when they are read.
import type { QueryClient } from "@tanstack/react-query";

import { readBoardsWhole } from "@/api/boards";
import type { Event } from "@/api/model";

const TOGETHER_MS = 16;
const APART_MS = 120;
const MOST_MS = 2000;
const UNSEEN_MS = 1000;

/** Collects what must be read again. A burst of events reads each query once, and again only after it has finished. In
 * a tab that nobody sees it is read when somebody looks, and only what is watched before. */
export class Stale {
  private readonly waiting = new Set<string>();
  private reading = false;
  private all = false;

  constructor(
    private readonly client: QueryClient,
    private readonly seen: () => boolean,
    private readonly watched: (key: readonly unknown[]) => boolean,
  ) {}

  add(event: Event): void {
    for (const key of keysOf(event)) this.waiting.add(JSON.stringify(key));
    this.begin();
  }

  /** What a break swallowed is read again, once: all of it. */
  everything(): void {
    this.all = !this.seen();
    if (this.all) return;
    readBoardsWhole(this.client);
    void this.client.invalidateQueries();
  }

  /** Somebody looks at this tab, or no longer. */
  looked(): void {
    if (!this.seen()) return;
    if (this.all) this.everything();
    this.begin();
  }

  private begin(): void {
    if (this.reading || this.due().length === 0) return;
    this.reading = true;
    window.setTimeout(() => void this.read(), this.seen() ? TOGETHER_MS : UNSEEN_MS);
  }

  private due(): unknown[][] {
    const keys = [...this.waiting].map((each) => JSON.parse(each) as unknown[]);
    return this.seen() ? keys : keys.filter(this.watched);
  }

  private async read(): Promise<void> {
    for (let keys = this.due(); keys.length > 0; keys = this.due()) {
      for (const each of keys) this.waiting.delete(JSON.stringify(each));
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

const TRACED = ["launch", "session", "decision"];

/** What an event makes stale. A stale board is read from its `last_event` on, not as a whole. */
export function keysOf(event: Event): unknown[][] {
  const [noun] = event.kind.split(".");
  const keys: unknown[][] = [["overview"], ["events"]];
  if (event.task_id) keys.push(["task", event.task_id], ["moves", event.task_id]);
  if (event.project_id && (event.task_id || noun === "session")) keys.push(["board", event.project_id]); // or who is at work
  if (event.project_id && event.task_id) keys.push(["views", event.project_id, "counts"]);
  if (event.agent_id) keys.push(["why", event.agent_id]);
  if (noun === "agent" || noun === "member") keys.push(["agents"]);
  if (noun === "project") keys.push(["projects"], ["members"], ["demo"]);
  if (noun === "session" || noun === "launch") keys.push(["sessions"], ["launches"], ["usage"]);
  if (["session", "launch", "agent", "account", "project"].includes(noun ?? "")) keys.push(["chats"], ["chat"]); // whether an agent is there to talk
  if (["message", "conversation", "chat", "delegation"].includes(noun ?? ""))
    keys.push(["chats"], ["chat"], ["conversations"]);
  if (event.project_id && ["merge_queue", "worktree", "task", "project"].includes(noun ?? ""))
    keys.push(["merge-queue", event.project_id]);
  if (noun === "merge_queue") keys.push(["worktrees"], ["worktree"]);
  if (noun === "worktree" || noun === "task") keys.push(["worktrees"], ["worktree"]); // how it stands: its task, or the one that changes it
  if (event.task_id && ["worktree.made", "worktree.changed"].includes(event.kind)) keys.push(["diff", event.task_id]);
  if (event.task_id || TRACED.includes(noun ?? "")) keys.push(["trace"]);
  if (noun === "state") keys.push(["shared"]);
  if (noun === "question" || noun === "review") keys.push(["questions"]);
  if (noun === "schedule" || event.task_id) keys.push(["schedules"]); // or how its last task stands
  if (noun === "webhook" || event.task_id) keys.push(["webhooks"]);
  if (noun === "memory") keys.push(["memories"]);
  if (noun === "view") keys.push(["views"]);
  if (noun === "key") keys.push(["keys"]);
  if (noun === "person") keys.push(["sign-ins"], ["people"], ["access-tokens"]);
  return keys;
}
