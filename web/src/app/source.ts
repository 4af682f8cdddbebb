// The connection to the server's stream of events: opened where one says, tried again until it is there.
import { streams, type Stream } from "@/api/following";
import type { Event, Sign } from "@/api/model";
import { PREFIX, type PathOf } from "@/api/routes";

const STREAM = `${PREFIX}${"/events/stream" satisfies PathOf<"get">}`;
const RETRY_MS = 1000;
const LATE_MS = 5000;

export interface Hears {
  opened: () => void;
  event: (event: Event) => void;
  /** What an agent does now. It is no event: nothing has to be told again. */
  sign: (sign: Sign) => void;
  /** Some events are no longer kept: what they changed is not told. */
  pruned: () => void;
  /** The server has not answered yet, though it should have. */
  late: () => void;
  lost: () => void;
}

export class Source {
  private source: Stream | null = null;
  private retry: number | undefined;
  private late: number | undefined;

  /** `after`: the event to go on from, asked for at every attempt. */
  constructor(
    private readonly hears: Hears,
    private readonly after: () => number,
  ) {}

  open(): void {
    this.close();
    this.late = window.setTimeout(() => this.hears.late(), LATE_MS);
    this.source = streams.begin(`${STREAM}?after=${this.after()}`);
    this.source.addEventListener("open", () => {
      window.clearTimeout(this.late);
      this.hears.opened();
    });
    this.source.addEventListener("message", (message) => this.hears.event(dataOf(message) as Event));
    this.source.addEventListener("doing", (message) => this.hears.sign(dataOf(message) as Sign));
    this.source.addEventListener("pruned", () => this.hears.pruned());
    this.source.addEventListener("error", () => this.lost());
  }

  close(): void {
    window.clearTimeout(this.retry);
    window.clearTimeout(this.late);
    this.source?.close();
    this.source = null;
  }

  /** Also after a refusal: the server may have restarted. */
  private lost(): void {
    this.close();
    this.retry = window.setTimeout(() => this.open(), RETRY_MS);
    this.hears.lost();
  }
}

const dataOf = (message: object): unknown => JSON.parse((message as MessageEvent<string>).data);
