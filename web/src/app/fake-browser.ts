// For tests of the one stream: a server of events, and a browser whose tabs share locks and channels.
import type { Around } from "@/app/one-stream";

/** The server: what has happened, and who is told. */
class Server {
  events: number[] = [];
  streams: FakeSource[] = [];

  get open() {
    return this.streams.filter((each) => each.opened);
  }

  happen(sequence: number) {
    this.events.push(sequence);
    for (const each of this.open) each.tell(sequence);
  }
}

/** The one of this test. */
export let server = new Server();

export function newServer(): void {
  server = new Server();
}

export class FakeSource extends EventTarget {
  opened = true;

  constructor(address: string) {
    super();
    server.streams.push(this);
    const after = Number(new URLSearchParams(address.split("?")[1]).get("after"));
    queueMicrotask(() => {
      if (!this.opened) return;
      this.dispatchEvent(new Event("open"));
      for (const each of server.events) if (each > after) this.tell(each);
    });
  }

  tell(sequence: number) {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ sequence, kind: "task.moved" }) }));
  }

  sign(text: string) {
    this.dispatchEvent(new MessageEvent("doing", { data: JSON.stringify({ launch_id: "lau_1", doing: { text } }) }));
  }

  close() {
    this.opened = false;
  }
}

interface Asked {
  held: () => Promise<void>;
  gone: (error: Error) => void;
}

/** The browser: its locks and channels, as all its tabs share them. */
export class Browser {
  private readonly channels = new Map<string, Set<FakeChannel>>();
  private readonly holder = new Map<string, Asked>();
  private readonly waiting = new Map<string, Asked[]>();

  around(): Around {
    return {
      locks: { request: this.request.bind(this) } as unknown as LockManager,
      channel: (name) => new FakeChannel(this.of(name)) as unknown as BroadcastChannel,
    };
  }

  private of(name: string) {
    const found = this.channels.get(name) ?? new Set<FakeChannel>();
    this.channels.set(name, found);
    return found;
  }

  private request(name: string, how: { steal?: boolean; signal?: AbortSignal }, held: () => Promise<void>) {
    return new Promise<void>((done, gone) => {
      const asked: Asked = { held: () => held().then(done), gone };
      const queue = this.waiting.get(name) ?? [];
      this.waiting.set(name, queue);
      if (how.steal === true) {
        this.holder.get(name)?.gone(new DOMException("stolen", "AbortError"));
        this.grant(name, asked);
        return;
      }
      queue.push(asked);
      how.signal?.addEventListener("abort", () => {
        const place = queue.indexOf(asked);
        if (place >= 0) queue.splice(place, 1);
        gone(new DOMException("aborted", "AbortError"));
      });
      queueMicrotask(() => this.next(name));
    });
  }

  private next(name: string) {
    const asked = this.holder.has(name) ? undefined : this.waiting.get(name)?.shift();
    if (asked !== undefined) this.grant(name, asked);
  }

  private grant(name: string, asked: Asked) {
    this.holder.set(name, asked);
    void asked.held().then(() => {
      if (this.holder.get(name) === asked) this.holder.delete(name);
      this.next(name);
    });
  }
}

export class FakeChannel {
  onmessage: ((message: { data: unknown }) => void) | null = null;

  constructor(private readonly all: Set<FakeChannel>) {
    all.add(this);
  }

  postMessage(data: unknown) {
    for (const each of this.all)
      if (each !== this) queueMicrotask(() => this.all.has(each) && each.onmessage?.({ data: structuredClone(data) }));
  }

  close() {
    this.all.delete(this);
  }
}
