// The ways in: what each of them gives, this origin keeps (api/secret.ts).
import { api, open } from "@/api/client";
import type { BodyOf } from "@/api/routes";
import { keepPageSecret } from "@/api/secret";
import { keepForWorker } from "@/push/secret";

export type Given = BodyOf<"post", "/sign-in">;

export async function enter(given: Given): Promise<void> {
  const { page_secret } = await api.post("/sign-in", { body: given });
  keepPageSecret(page_secret);
  await keepForWorker(page_secret).catch(() => undefined); // without it, only the buttons of notifications are refused
}

const LEFT = "toryo.left";
const ARRIVED = "provider.";

/** The address of the identity provider. What it answers is good in this origin alone, which has left for it. */
export async function leaveForProvider(again = false): Promise<string> {
  const answer = await open(`/sign-in/oidc?again=${again}`, { method: "POST" });
  const { address, page } = (await answer.json()) as { address: string; page: string };
  localStorage.setItem(LEFT, page);
  return address;
}

/** The code that an address holds; that of the way back is completed by what was kept. */
export function codeOf(fragment: string): string {
  if (!fragment.startsWith(ARRIVED)) return fragment;
  const left = localStorage.getItem(LEFT) ?? "";
  localStorage.removeItem(LEFT);
  return `${left}.${fragment.slice(ARRIVED.length)}`;
}
