// The open panel: while somebody looks, the server is told every few seconds, so that the agent comes and stays. Who
// leaves says so with the id of this panel only; a tab that is killed says nothing, and its panel ends by itself.
import { useEffect, useRef } from "react";

import { api } from "@/api/client";
import type { ChatStatus } from "@/api/model";
import { inThread, type Between } from "@/views/chat/thread";

const AGAIN_MS = 5000;

/** Calls go one after the other, so that leaving never overtakes opening, nor opening again leaving. */
export class Panel {
  private viewer: string | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private timer: number | undefined;
  private shown = false;
  private seen = 0;

  constructor(
    private readonly between: Between,
    private readonly told: (status: ChatStatus) => void,
  ) {}

  show(): void {
    this.shown = true;
    this.beat();
  }

  /** Out of sight: no more word from here. The server waits a while before it lets the agent go. */
  hide(): void {
    this.shown = false;
    window.clearTimeout(this.timer);
  }

  see(sequence: number): void {
    if (sequence <= this.seen) return;
    this.seen = sequence;
    if (this.shown) this.beat();
  }

  leave(): void {
    this.hide();
    this.after(async () => {
      const viewer = this.viewer;
      this.viewer = null;
      if (viewer === null) return;
      const body = { viewer_id: viewer };
      await api.post("/projects/{project_id}/chats/{agent_id}/close", { ...inThread(this.between), body, last: true });
    });
  }

  private beat(): void {
    window.clearTimeout(this.timer);
    this.after(async () => {
      if (!this.shown) return;
      const next = await this.open();
      window.clearTimeout(this.timer);
      if (this.shown) this.timer = window.setTimeout(() => this.beat(), next);
    });
  }

  private async open(): Promise<number> {
    try {
      const body = { viewer_id: this.viewer ?? undefined, seen: this.seen };
      const opened = await api.post("/projects/{project_id}/chats/{agent_id}/open", {
        ...inThread(this.between),
        body,
      });
      this.viewer = opened.viewer_id;
      this.told(opened.status);
      return opened.heartbeat_seconds * 1000;
    } catch {
      return AGAIN_MS; // what keeps us from it is told by the thread itself
    }
  }

  private after(what: () => Promise<void>): void {
    this.queue = this.queue.then(what).catch(() => undefined);
  }
}

/** Keeps a panel open while the component is there and its tab is looked at. `told` must stay the same function. */
export function usePanel(projectId: string, agentId: string, seen: number, told: (status: ChatStatus) => void): void {
  const open = useRef<Panel | null>(null);
  useEffect(() => {
    const panel = new Panel({ projectId, agentId }, told);
    open.current = panel;
    const look = () => (document.visibilityState === "visible" ? panel.show() : panel.hide());
    const leave = () => panel.leave();
    look();
    document.addEventListener("visibilitychange", look);
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("pagehide", leave);
      window.removeEventListener("pageshow", look);
      panel.leave();
    };
  }, [projectId, agentId, told]);
  useEffect(() => open.current?.see(seen), [projectId, agentId, seen]);
}
