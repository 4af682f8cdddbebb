// The server's stream of events, as EventSource has it; which sends the cookie alone, and not the secret of the page.
import { open } from "@/api/client";

export type Stream = EventTarget & { close: () => void };

/** Tests have no server: they begin something else. */
export const streams = { begin: (address: string): Stream => new Following(address) };

export class Following extends EventTarget {
  private readonly leaving = new AbortController();

  constructor(address: string) {
    super();
    void this.follow(address).catch(() => this.leaving.signal.aborted || this.dispatchEvent(new Event("error")));
  }

  close(): void {
    this.leaving.abort();
  }

  private async follow(address: string): Promise<void> {
    const answer = await open(address, { signal: this.leaving.signal });
    this.dispatchEvent(new Event("open"));
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const read = await reader?.read();
      if (read?.value === undefined) throw new Error("The stream has ended.");
      const messages = (rest + read.value).split("\n\n");
      rest = messages.pop() ?? "";
      for (const each of messages) if (!this.leaving.signal.aborted) this.tell(each);
    }
  }

  /** `event: TYPE`, `data: JSON`, and lines that say nothing here. */
  private tell(message: string): void {
    const data = /^data: (.*)$/m.exec(message)?.[1];
    const type = /^event: (.*)$/m.exec(message)?.[1] ?? "message";
    if (data !== undefined) this.dispatchEvent(new MessageEvent(type, { data }));
  }
}
