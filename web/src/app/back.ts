// Where somebody was when they had to sign in: they come back there, once.
const KEY = "toryo.back";

/** The door itself is no place to come back to: it is seen once more on the way there. */
export function remember(href: string): void {
  if (!href.startsWith("/sign-in")) sessionStorage.setItem(KEY, href);
}

const ELSEWHERE = "toryo.signed-out";

/** Somebody was here and is no longer signed in, though they did not leave by themselves: the door says so, once. */
export function wasSignedOut(): void {
  if (sessionStorage.getItem(ELSEWHERE) === null) sessionStorage.setItem(ELSEWHERE, "yes");
}

/** They leave by themselves: the door has nothing to say. */
export function leavesNow(): void {
  sessionStorage.setItem(ELSEWHERE, "no");
}

export function signedOutElsewhere(): boolean {
  return sessionStorage.getItem(ELSEWHERE) === "yes";
}

/** Somebody has come in again, or stays. */
export function forgetSignedOut(): void {
  sessionStorage.removeItem(ELSEWHERE);
}

/** A path of this page, never an address elsewhere. */
export function takeBack(): string {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return kept !== null && /^\/(?![/\\])/.test(kept) && !kept.startsWith("/sign-in") ? kept : "/";
}
