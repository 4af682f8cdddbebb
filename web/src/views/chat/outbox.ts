// What is being sent: shown at once, kept with the reason where it was not taken, and never sent twice. If the server
// did not answer, nobody knows whether it took the message: so before it is sent again, the thread is looked at.
import { useSyncExternalStore } from "react";

import { Refused, api } from "@/api/client";
import { queryClient } from "@/api/queries";
import { inThread, keep, thread, type Between } from "@/views/chat/thread";

export interface Outgoing {
  key: string;
  content: string;
  state: "sending" | "failed";
  error: unknown;
  /** The newest message that was known when it was first sent: if it was taken, it stands after this one. */
  after: number;
}

const NONE: readonly Outgoing[] = [];
const boxes = new Map<string, readonly Outgoing[]>();
const listeners = new Set<() => void>();
let made = 0;

const nameOf = (between: Between) => `${between.projectId} ${between.agentId}`;

function change(between: Between, how: (all: readonly Outgoing[]) => readonly Outgoing[]): void {
  boxes.set(nameOf(between), how(boxes.get(nameOf(between)) ?? NONE));
  for (const each of listeners) each();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export function useOutbox(between: Between): readonly Outgoing[] {
  return useSyncExternalStore(subscribe, () => boxes.get(nameOf(between)) ?? NONE);
}

export function say(between: Between, content: string): Promise<void> {
  const known = queryClient.getQueryData(thread(between).queryKey);
  const after = known?.messages.at(-1)?.sequence ?? 0;
  const one: Outgoing = { key: `out-${made++}`, content, state: "sending", error: null, after };
  change(between, (all) => [...all, one]);
  return attempt(between, one);
}

export async function sayAgain(between: Between, one: Outgoing, me: string): Promise<void> {
  change(between, (all) => all.map((each) => (each.key === one.key ? { ...each, state: "sending" } : each)));
  if (!(one.error instanceof Refused) && (await arrived(between, one, me))) return drop(between, one.key);
  await attempt(between, one);
}

export function drop(between: Between, key: string): void {
  change(between, (all) => all.filter((each) => each.key !== key));
}

async function attempt(between: Between, one: Outgoing): Promise<void> {
  try {
    const { message } = await api.post("/projects/{project_id}/chats/{agent_id}/messages", {
      ...inThread(between),
      body: { content: one.content },
    });
    keep(queryClient, between, message);
    drop(between, one.key);
  } catch (error) {
    const failed: Outgoing = { ...one, state: "failed", error };
    change(between, (all) => all.map((each) => (each.key === one.key ? failed : each)));
  }
}

/** Whether the thread holds it already: the answer was lost, not the message. */
async function arrived(between: Between, one: Outgoing, me: string): Promise<boolean> {
  try {
    const known = await queryClient.fetchQuery({ ...thread(between), staleTime: 0 });
    return known.messages.some(
      (each) => each.sequence > one.after && each.from_agent_id === me && each.content === one.content,
    );
  } catch {
    return false; // the server is still away: sending says so
  }
}
