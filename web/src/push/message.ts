// What a push message holds, as `src/toryo/housekeeping/web_push.py` writes it, and the notification that it becomes.
import { inOwnTime } from "@/ui/instants";

/** One request that settles the need. */
export interface Act {
  name: string;
  method: string;
  path: string;
  body: Record<string, unknown>;
  version: number | null;
  /** What the button says. */
  label: string;
}

export interface Told {
  id: string;
  kind: string;
  key: string;
  title: string;
  text: string;
  since: string | null;
  language: "en" | "ja";
  /** Where it is settled in the dashboard. */
  path: string;
  actions: Act[];
}

interface Words {
  test: string;
  testText: string;
  failed: string;
  done: Record<string, string>;
  answered: string;
  signIn: string;
}

const WORDS: Record<"en" | "ja", Words> = {
  en: {
    test: "Notifications work",
    testText: "Toryo notifies you here when you are needed.",
    failed: "This did not work",
    done: { approve: "Approved", unblock: "Unblocked", retry: "Retried", resume: "Resumed" },
    answered: "Answered",
    signIn: "Sign in to Toryo again.",
  },
  ja: {
    test: "通知が届きました",
    testText: "対応が必要なときに、Toryoがここに通知します。",
    failed: "実行できませんでした",
    done: {
      approve: "承認しました",
      unblock: "ブロックを解除しました",
      retry: "再試行しました",
      resume: "再開しました",
    },
    answered: "回答しました",
    signIn: "Toryoにもう一度サインインしてください。",
  },
};

export function wordsOf(told: Told): Words {
  return WORDS[told.language] ?? WORDS.en;
}

/** `actions` is not in the types of the DOM library: only notifications of service workers have them. */
export type Shown = NotificationOptions & { actions?: { action: string; title: string }[]; timestamp?: number };

/** The newest one about a need takes the place of an earlier one, and does not ring again. */
export function shownAs(told: Told): { title: string; options: Shown } {
  const words = wordsOf(told);
  const test = told.kind === "test";
  return {
    title: test ? words.test : told.title,
    options: {
      body: test ? words.testText : inOwnTime(told.text, told.language),
      tag: told.key,
      lang: told.language,
      icon: "/icon-192.png",
      badge: "/badge.png",
      data: told,
      requireInteraction: told.kind === "approval",
      ...(told.since === null ? {} : { timestamp: Date.parse(told.since) }),
      actions: told.actions.map(({ name, label }) => ({ action: name, title: label })),
    },
  };
}

/** The request of one click: it is sent as the page would send it. */
export function requestOf(act: Act, language: string, secret: string | null): [string, RequestInit] {
  return [
    act.path,
    {
      method: act.method,
      credentials: "same-origin",
      headers: {
        "X-Toryo": secret ?? "1",
        "Accept-Language": language,
        "Content-Type": "application/json",
        ...(act.version === null ? {} : { "If-Match": `"${act.version}"` }),
      },
      body: JSON.stringify(act.body),
    },
  ];
}
