// The service worker: shows what the server tells while no page is open, and carries out what one click settles.
// It keeps no files: the dashboard is always the server's.
import { requestOf, shownAs, wordsOf, type Told } from "@/push/message";
import { keptForWorker } from "@/push/secret";

declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  const told = event.data?.json() as Told | undefined;
  if (told === undefined) return;
  const { title, options } = shownAs(told);
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  const told = event.notification.data as Told;
  event.notification.close();
  event.waitUntil(event.action === "" ? open(told.path) : settle(told, event.action));
});

/** In a tab of the dashboard that is there already, if there is one. */
async function open(address: string): Promise<void> {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find((each) => each.visibilityState === "visible") ?? tabs[0];
  if (tab === undefined) {
    await self.clients.openWindow(address);
    return;
  }
  await tab.focus();
  tab.postMessage({ kind: "go", address });
}

/** What was done is said in the place of what was asked; what was refused, with the server's reason. */
async function settle(told: Told, name: string): Promise<void> {
  const act = told.actions.find((each) => each.name === name);
  if (act === undefined) return open(told.path);
  const words = wordsOf(told);
  const said = await answered(...requestOf(act, told.language, await keptForWorker().catch(() => null)));
  const refused = said === null ? null : said.status === 401 ? words.signIn : said.reason;
  await self.registration.showNotification(
    refused === null ? (words.done[name] ?? `${words.answered}: ${act.label}`) : words.failed,
    {
      body: refused === null ? told.title : `${told.title}\n${refused}`,
      tag: told.key,
      lang: told.language,
      icon: "/icon-192.png",
      silent: refused === null,
      data: { ...told, actions: [] },
    },
  );
}

/** Null: it was done. */
async function answered(path: string, init: RequestInit): Promise<{ status: number; reason: string } | null> {
  try {
    const answer = await fetch(path, init);
    if (answer.ok) return null;
    const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
    return { status: answer.status, reason: problem.detail ?? answer.statusText };
  } catch (error) {
    return { status: 0, reason: String(error) };
  }
}
