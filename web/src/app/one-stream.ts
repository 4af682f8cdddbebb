// One stream of events for all tabs of a browser: one tab leads (it holds a lock), reads the stream and tells the others.
// A browser opens six connections to a server at most, so a stream in each tab would leave none for anything else.
//
// A tab that joins says after which event it goes on, and gets what the leader still has; where that is not enough the
// leader's stream begins again from there. So no tab misses an event, whichever leads. Tabs in view want to lead; a tab
// out of view hands over to one that is seen, and when none is seen the stream ends after a while. Without locks (a page
// that came over plain HTTP from another machine) each tab that is seen has a stream of its own.
import type { Event, Sign } from "@/api/model";
import { Source } from "@/app/source";

/** `connecting`: nothing has been heard yet. */
export type Liveness = "connecting" | "live" | "reconnecting";

/** What this tab does with what it is told. */
export interface Tab {
  heard: (event: Event) => void;
  /** What an agent does now. */
  showed: (sign: Sign) => void;
  /** Something may have been missed: all is read again. */
  again: () => void;
  became: (state: Liveness) => void;
  /** The connection broke. */
  lost: () => void;
  /** Whether it wants events now: it is seen, or must know anyway. */
  wants: () => boolean;
  seen: () => boolean;
}

export interface Around {
  locks: LockManager | undefined;
  channel: ((name: string) => BroadcastChannel) | undefined;
}

type Said =
  | { kind: "hello"; from: string; after: number; seen: boolean }
  | { kind: "here"; to: string; events: Event[]; at: number; state: Liveness }
  | { kind: "behind"; to: string; at: number; state: Liveness }
  | { kind: "take"; to: string }
  | { kind: "event"; event: Event }
  | { kind: "sign"; sign: Sign }
  | { kind: "state"; at: number; state: Liveness }
  | { kind: "lead" }
  | { kind: "again" };

const BEAT_MS = 3000;
const SILENT_MS = 10_000;
const UNSEEN_MS = 20_000;
const KEPT = 1000;
/** Further back than this, all is read again instead. */
const FAR = 20_000;

export function browser(): Around {
  const both = typeof BroadcastChannel !== "undefined" && "locks" in navigator;
  return both
    ? { locks: navigator.locks, channel: (name) => new BroadcastChannel(name) }
    : { locks: undefined, channel: undefined };
}

export class OneStream {
  private readonly id = `${Date.now()}.${Math.random()}`;
  private readonly name: string;
  private readonly source: Source;
  private channel: BroadcastChannel | null = null;
  private asking: AbortController | null = null;
  private release: (() => void) | null = null;
  private leading = false;
  /** Somebody was told to take the lead. If two were, each would begin a stream. */
  private given = false;
  private broken = false;
  private synced = false;
  private state: Liveness = "connecting";
  /** Up to which event the stream of this leader has come, from where it began, and what it still has of that. */
  private at = 0;
  private begun = 0;
  private recent: Event[] = [];
  private beat: number | undefined;
  private silence: number | undefined;
  private unseen: number | undefined;

  /** `who`: whose sign-in it is, for what people see differs. `last`: the newest event that this tab knows. */
  constructor(
    who: string,
    private last: number,
    private readonly tab: Tab,
    private readonly around: Around = browser(),
  ) {
    this.name = `toryo.events.${who}`;
    const hears = {
      opened: () => this.opened(),
      event: (event: Event) => this.told(event),
      sign: (sign: Sign) => {
        this.say({ kind: "sign", sign });
        this.tab.showed(sign);
      },
      pruned: () => this.readAgain(),
      late: () => this.become("reconnecting"),
      lost: () => this.lost(),
    };
    this.source = new Source(hears, () => this.at);
  }

  start(): void {
    this.channel = this.around.channel?.(this.name) ?? null;
    if (this.channel !== null) this.channel.onmessage = (message: MessageEvent<Said>) => this.hear(message.data);
    this.looked();
  }

  stop(): void {
    for (const timer of [this.silence, this.unseen]) window.clearTimeout(timer);
    this.asking?.abort();
    this.yieldLead();
    this.channel?.close();
    this.channel = null;
  }

  /** Whether somebody looks at this tab, or whether it must know anyway, has changed. */
  looked(): void {
    window.clearTimeout(this.unseen);
    window.clearTimeout(this.silence);
    this.given = false;
    if (this.leading) {
      if (!this.tab.seen()) this.say({ kind: "lead" }); // who is seen says so, and takes over
      if (!this.tab.wants()) this.unseen = window.setTimeout(() => this.yieldLead(), UNSEEN_MS);
    } else if (this.tab.wants()) {
      this.queue();
      this.hello();
    } else {
      this.asking?.abort();
    }
  }

  // --- leading -------------------------------------------------------------------------------------------------------

  private queue(how: "wait" | "steal" = "wait"): void {
    const { locks } = this.around;
    this.asking?.abort();
    if (locks === undefined) return this.lead(() => undefined);
    const asking = new AbortController();
    this.asking = asking;
    const held = () =>
      new Promise<void>((release) => {
        if (asking.signal.aborted) release();
        else this.lead(release);
      });
    const options = how === "steal" ? { steal: true } : { signal: asking.signal };
    locks.request(this.name, options, held).catch((error: unknown) => {
      if (this.asking !== asking || asking.signal.aborted) return;
      if (!this.leading && (error as Error).name !== "AbortError") return this.lead(() => undefined); // none are given here
      this.yieldLead(); // another tab took it
      this.looked();
    });
  }

  private lead(release: () => void): void {
    window.clearTimeout(this.silence);
    this.release = release;
    this.leading = true;
    this.given = false;
    this.begin(this.last);
    this.beat = window.setInterval(() => this.say({ kind: "state", at: this.at, state: this.state }), BEAT_MS);
    this.say({ kind: "lead" });
    if (!this.tab.wants()) this.looked();
  }

  private begin(after: number): void {
    this.at = this.begun = after;
    this.recent = [];
    this.source.open();
  }

  private yieldLead(): void {
    if (!this.leading) return;
    this.leading = false;
    window.clearInterval(this.beat);
    this.source.close();
    this.release?.();
    this.release = null;
  }

  private opened(): void {
    if (this.broken) this.readAgain(); // it may be another server that answers now
    this.broken = false;
    this.become("live");
  }

  private lost(): void {
    this.broken = true;
    this.become("reconnecting");
  }

  private told(event: Event): void {
    this.at = Math.max(this.at, event.sequence);
    this.recent.push(event);
    if (this.recent.length > KEPT) this.begun = this.recent.shift()?.sequence ?? this.begun;
    this.say({ kind: "event", event });
    this.take(event);
  }

  private readAgain(): void {
    this.say({ kind: "again" });
    this.tab.again();
  }

  /** A tab joins: it gets what it lacks, and the lead where it is seen and this one is not. */
  private welcome({ from, after, seen }: Said & { kind: "hello" }): void {
    const { state } = this;
    if (this.begun - after > FAR) {
      this.say({ kind: "behind", to: from, at: this.at, state });
    } else if (after < this.begun) {
      this.say({ kind: "here", to: from, events: [], at: after, state });
      this.begin(after); // who knows more lets pass what it knows
    } else {
      const events = this.recent.filter((event) => event.sequence > after);
      this.say({ kind: "here", to: from, events, at: this.at, state });
    }
    if (!seen || this.tab.seen() || this.given) return;
    this.given = true;
    this.say({ kind: "take", to: from });
  }

  // --- following -----------------------------------------------------------------------------------------------------

  private hello(): void {
    this.synced = false;
    this.say({ kind: "hello", from: this.id, after: this.last, seen: this.tab.seen() });
    this.listen();
  }

  /** A leader that says nothing hangs: who is seen takes over. */
  private listen(): void {
    window.clearTimeout(this.silence);
    if (this.channel === null || this.leading || !this.tab.seen()) return;
    this.silence = window.setTimeout(() => {
      this.become("reconnecting");
      this.queue("steal");
    }, SILENT_MS);
  }

  private hear(said: Said): void {
    if (said.kind === "hello") {
      if (this.leading) this.welcome(said);
      return;
    }
    if (this.leading || ("to" in said && said.to !== this.id)) return;
    this.listen();
    if (said.kind === "lead") return this.hello();
    if (said.kind === "take") return this.queue("steal");
    if (said.kind === "again") return this.tab.again();
    if (said.kind === "sign") return this.tab.showed(said.sign);
    if (said.kind === "event") {
      if (this.synced) this.take(said.event);
      return;
    }
    if (said.kind === "here") for (const event of said.events) this.take(event);
    if (said.kind === "behind") this.tab.again();
    if (said.kind === "state" && !this.synced) return this.hello();
    this.synced = true;
    this.last = Math.max(this.last, said.at);
    this.become(said.state);
  }

  private take(event: Event): void {
    if (event.sequence <= this.last) return;
    this.last = event.sequence;
    this.tab.heard(event);
  }

  private become(state: Liveness): void {
    if (this.leading) this.say({ kind: "state", at: this.at, state });
    if (state === this.state) return;
    this.state = state;
    this.tab.became(state);
    if (state === "reconnecting") this.tab.lost();
  }

  private say(said: Said): void {
    this.channel?.postMessage(said);
  }
}
