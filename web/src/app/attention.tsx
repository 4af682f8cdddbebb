// What calls a person who looks elsewhere: the count in the tab's title and a dot on its icon; a notification while a
// page is open and no push comes; and notifications that were settled elsewhere disappear.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Need } from "@/api/model";
import { needs, notificationSettings } from "@/api/queries";
import { useWatched } from "@/app/live";
import { navigate } from "@/app/routing";
import { stay } from "@/push/subscription";

export function Attention() {
  const waiting = useQuery(needs(null)).data;
  const settings = useQuery(notificationSettings).data;
  useEffect(() => mark((waiting?.length ?? 0) > 0), [waiting]);
  useGoing();
  useEffect(() => {
    if (settings?.this_browser === true) void stay().catch(() => undefined); // the page works without it
  }, [settings?.this_browser]);
  useEffect(() => {
    if (waiting !== undefined) void closeSettled(waiting);
  }, [waiting]);
  useWatched(needs(null).queryKey, settings !== undefined && tellsItself(settings)); // also while it is hidden
  useNews(waiting, settings);
  return null;
}

const ICON = 'link[rel="icon"]';

/** The icon with a dot, or without. */
function mark(on: boolean): void {
  const icon = document.querySelector<HTMLLinkElement>(ICON);
  if (icon !== null) icon.href = on ? "/favicon-waiting.svg" : "/favicon.svg";
}

/** A click on a notification shows its place in the tab that is there. */
function useGoing(): void {
  useEffect(() => {
    const worker = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    const hear = (event: MessageEvent<unknown>) => {
      const said = event.data as { kind?: string; address?: string } | null;
      if (said?.kind === "go" && said.address?.startsWith("/") === true) void navigate({ to: said.address });
    };
    worker?.addEventListener("message", hear);
    return () => worker?.removeEventListener("message", hear);
  }, []);
}

/** What is no longer needed is not shown any longer. */
async function closeSettled(waiting: Need[]): Promise<void> {
  const worker = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const registration = await worker?.getRegistration("/");
  const shown = (await registration?.getNotifications()) ?? [];
  const keys = new Set(waiting.map((each) => each.key));
  for (const each of shown) {
    const told = each.data as { key?: string; actions?: unknown[] } | null;
    if (each.tag !== "" && each.tag !== "test" && told?.key === each.tag && !keys.has(each.tag)) each.close();
  }
}

interface Wishes {
  this_browser: boolean;
  muted: string[];
  quiet_hours: { begin: string; end: string } | null;
  time_zone: string;
}

/** Whether the page itself notifies: the browser allows it, and no push comes. */
function tellsItself({ this_browser }: Pick<Wishes, "this_browser">): boolean {
  return !this_browser && "Notification" in window && Notification.permission === "granted";
}

/** Where the browser allows notifications and no push comes, a page that is not looked at tells what is new. */
function useNews(waiting: Need[] | undefined, settings: Wishes | undefined): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (waiting === undefined || settings === undefined) return;
    const before = known.current;
    known.current = new Set(waiting.map((each) => each.key));
    if (before === null || !tellsItself(settings) || document.visibilityState === "visible") return;
    if (isQuiet(settings, new Date())) return;
    for (const each of waiting) if (!before.has(each.key) && !settings.muted.includes(each.kind)) tell(each);
  }, [waiting, settings]);
}

function tell(need: Need): void {
  try {
    const shown = new Notification(need.title, { body: need.text, tag: need.key, icon: "/icon-192.png" });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
      window.location.assign(need.path);
    });
  } catch {
    // browsers of phones show notifications of service workers only
  }
}

/** As the server decides (`domain/push.py`), for a page that is open. */
export function isQuiet({ quiet_hours, time_zone }: Pick<Wishes, "quiet_hours" | "time_zone">, now: Date): boolean {
  if (quiet_hours === null) return false;
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: time_zone,
  }).format(now);
  const { begin, end } = quiet_hours;
  return begin < end ? begin <= clock && clock < end : clock >= begin || clock < end;
}
