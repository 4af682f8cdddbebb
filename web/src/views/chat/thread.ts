// One thread as the page keeps it: what was read once is kept, what is new is read after it, what is older on demand.
import type { QueryClient } from "@tanstack/react-query";
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import type { ChatPage, Message } from "@/api/model";
import { queryClient } from "@/api/queries";

const PAGE = 50;
const MOST = 200;

export interface Thread extends ChatPage {
  /** Whether there may be older messages than those that are here. */
  more: boolean;
}

/** The two members of the thread; `withId` when a person reads a thread of others. */
export interface Between {
  projectId: string;
  agentId: string;
  withId?: string | undefined;
}

/** Its place among the routes. */
export const inThread = ({ projectId, agentId }: Between) => ({ path: { project_id: projectId, agent_id: agentId } });

const readPage = ({ withId, ...between }: Between, query: { before?: number; after?: number; limit: number }) =>
  api.get("/projects/{project_id}/chats/{agent_id}/messages", {
    ...inThread(between),
    query: { ...query, with_agent_id: withId },
  });

export const thread = (between: Between) => {
  const queryKey = ["chat", between.projectId, between.agentId, between.withId ?? null] as const;
  return queryOptions<Thread>({
    queryKey,
    queryFn: () => read(between, queryClient.getQueryData<Thread>(queryKey)),
  });
};

/** The newest messages; or, where some are known, whatever came after them, without a gap. */
export async function read(between: Between, known: Thread | undefined): Promise<Thread> {
  if (known === undefined || known.messages.length === 0) {
    const page = await readPage(between, { limit: PAGE });
    return { ...page, more: page.messages.length === PAGE };
  }
  let messages = known.messages;
  for (;;) {
    const after = messages.at(-1)?.sequence ?? 0;
    const page = await readPage(between, { after, limit: MOST });
    messages = merged(messages, page.messages);
    if (page.messages.length < MOST) return { ...page, messages, more: known.more };
  }
}

/** Puts the page of messages before the oldest that is here in front of it. */
export async function readOlder(client: QueryClient, between: Between): Promise<void> {
  const { queryKey } = thread(between);
  const oldest = client.getQueryData(queryKey)?.messages[0]?.sequence;
  if (oldest === undefined) return;
  const page = await readPage(between, { before: oldest, limit: PAGE });
  client.setQueryData(queryKey, (known) =>
    known === undefined
      ? known
      : { ...known, messages: merged(page.messages, known.messages), more: page.messages.length === PAGE },
  );
}

/** A message that the server has just taken. */
export function keep(client: QueryClient, between: Between, message: Message): void {
  client.setQueryData(thread(between).queryKey, (known) =>
    known === undefined ? known : { ...known, messages: merged(known.messages, [message]) },
  );
}

/** Each once, in the order of the server. */
export function merged(one: readonly Message[], other: readonly Message[]): Message[] {
  const all = new Map([...one, ...other].map((each) => [each.sequence, each]));
  return [...all.values()].sort((a, b) => a.sequence - b.sequence);
}
