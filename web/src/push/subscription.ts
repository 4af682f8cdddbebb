// This browser as one that is notified: whether it can be, asking for permission, and staying subscribed.
import { api } from "@/api/client";
import type { NotificationSettings } from "@/api/model";
import { pageSecret } from "@/api/secret";
import { chosenLanguage } from "@/i18n";
import { keepForWorker } from "@/push/secret";

/** Why a browser cannot be notified; null: it can. Only pages over https, or of this machine, may register a worker. */
export type Hindrance = "insecure" | "unsupported" | "denied" | null;

export function hindrance(): Hindrance {
  if (!window.isSecureContext) return "insecure";
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window))
    return "unsupported";
  return Notification.permission === "denied" ? "denied" : null;
}

/** The worker answers for this page: it has the secret as well, also where the browser had lost it. */
async function registered(): Promise<ServiceWorkerRegistration> {
  await keepForWorker(pageSecret());
  return navigator.serviceWorker.register("/sw.js", { scope: "/", updateViaCache: "none" });
}

/** The answer of the person to the browser's question; what is refused is no error. */
export async function subscribe(): Promise<NotificationSettings | null> {
  if ((await Notification.requestPermission()) !== "granted") return null;
  await registered();
  const registration = await navigator.serviceWorker.ready;
  const { public_key } = await api.post("/push-key");
  const key = bytesOf(public_key);
  const before = await registration.pushManager.getSubscription();
  if (before !== null && !same(before.options.applicationServerKey, key)) await before.unsubscribe(); // another server's
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  return api.put("/push-subscription", { body: bodyOf(made) });
}

export async function unsubscribe(): Promise<NotificationSettings> {
  const answer = await api.delete("/push-subscription");
  const registration = await navigator.serviceWorker.getRegistration("/");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  return answer;
}

/** A browser that the server counts as notified stays so: a subscription that the browser has dropped is made again. */
export async function stay(): Promise<void> {
  if (hindrance() !== null || Notification.permission !== "granted") return;
  const registration = await registered();
  if ((await registration.pushManager.getSubscription()) === null) await subscribe();
}

function bodyOf(made: PushSubscription) {
  const { p256dh = "", auth = "" } = made.toJSON().keys ?? {};
  return { endpoint: made.endpoint, p256dh, auth, language: chosenLanguage() };
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = new Uint8Array(new ArrayBuffer(text.length));
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function same(key: ArrayBuffer | null, other: Uint8Array): boolean {
  if (key === null || key.byteLength !== other.length) return false;
  return new Uint8Array(key).every((byte, at) => byte === other[at]);
}
