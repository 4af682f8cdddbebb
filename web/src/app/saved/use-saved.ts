// The saved views of a project, with how many tasks each shows now, and where they lead.
import { useQuery } from "@tanstack/react-query";

import type { SavedView } from "@/api/model";
import { savedCounts, savedViews } from "@/api/queries";
import { usePath, useSearch } from "@/app/routing";
import { VIEWS, addressOf, viewAt, type View } from "@/app/views";

const NONE: SavedView[] = [];

/** Counts change with tasks, the list only with saved views: what has no counts is not read again with every task. */
export function useSaved(projectId: string | undefined): SavedView[] {
  const list = useQuery({ ...savedViews(projectId ?? ""), enabled: projectId !== undefined }).data ?? NONE;
  const counts = useQuery({
    ...savedCounts(projectId ?? ""),
    enabled: list.some((each) => each.count !== null),
  }).data;
  if (counts === undefined) return list;
  const known = new Map(counts.map((each) => [each.view_id, each.count]));
  return list.map((each) => ({ ...each, count: known.get(each.view_id) ?? each.count }));
}

export const viewOf = (saved: SavedView): View | undefined => VIEWS.find((each) => each.name === saved.view);

export function leadsTo({ project_id, view, q, by }: Pick<SavedView, "project_id" | "view" | "q" | "by">) {
  return { to: addressOf(project_id, view), search: { ...(q === "" ? {} : { q }), ...(by === null ? {} : { by }) } };
}

const SAVABLE: readonly string[] = ["board", "list", "timeline", "graph", "audit"] satisfies SavedView["view"][];

/** What the address shows, as it would be saved; null where nothing is narrowed, or nothing can be saved. */
export function useShown(): Pick<SavedView, "view" | "q" | "by"> | null {
  const path = usePath();
  const { q = "", by = null } = useSearch();
  const name = viewAt(path)?.name ?? "";
  if (!SAVABLE.includes(name) || (q === "" && by === null)) return null;
  return { view: name as SavedView["view"], q, by };
}

export const isSame = (saved: SavedView, shown: ReturnType<typeof useShown>) =>
  shown !== null && saved.view === shown.view && saved.q === shown.q && saved.by === shown.by;
