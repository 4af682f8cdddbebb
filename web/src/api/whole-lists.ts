// Lists that are read to their end, page after page: of a very long one the first thirty thousand.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import type { Event } from "@/api/model";
import { ofTask } from "@/api/routes";

export const PAGE = 1000;
const MOST_PAGES = 30;

/** `read` answers a page, and after what the next one begins. */
export async function whole<Item, Place>(read: (after: Place | undefined) => Promise<[Item[], Place | undefined]>) {
  const found: Item[] = [];
  let after: Place | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const [items, next] = await read(after);
    found.push(...items);
    after = next;
    if (after === undefined) break;
  }
  return found;
}

/** What was said about a task, the oldest first. */
export const taskMessages = (taskId: string) =>
  queryOptions({
    queryKey: ["chat", "about", taskId],
    queryFn: ({ signal }) =>
      whole(async (cursor: string | undefined) => {
        const query = { limit: PAGE, cursor };
        const answer = await api.get("/tasks/{task_id}/messages", { ...ofTask(taskId), query, signal });
        return [answer.messages, answer.next_cursor];
      }),
  });

/** Every launch of a project, the newest first, as it was when it was read: `launches` says what is new since. */
export const launchHistory = (projectId: string) =>
  queryOptions({
    queryKey: ["launch-history", projectId],
    queryFn: ({ signal }) =>
      whole(async (cursor: string | undefined) => {
        const query = { project_id: projectId, limit: PAGE, cursor };
        const answer = await api.get("/launches", { query, signal });
        return [answer.launches, answer.next_cursor];
      }),
    refetchOnMount: "always",
  });

/** The events of one noun (`task.`) in a project, the oldest first: what the past is rebuilt from. Of a very long log
 * the newest thirty thousand. The timeline puts what happens now behind them. */
export const eventLog = (projectId: string, kind: string) =>
  queryOptions({
    queryKey: ["log", projectId, kind],
    queryFn: async ({ signal }) => {
      const backwards = await whole<Event, number>(async (before) => {
        const query = { project_id: projectId, kind, newest: true, before, limit: PAGE };
        const { events, last } = await api.get("/events", { query, signal });
        return [events, events.length < PAGE ? undefined : last];
      });
      return backwards.reverse();
    },
  });
