// Where somebody was when they had to sign in: they come back there, once.
const KEY = "toryo.back";

/** The door itself is no place to come back to: it is seen once more on the way there. */
export function remember(href: string): void {
  if (!href.startsWith("/sign-in")) sessionStorage.setItem(KEY, href);
}

/** A path of this page, never an address elsewhere. */
export function takeBack(): string {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return kept !== null && /^\/(?![/\\])/.test(kept) && !kept.startsWith("/sign-in") ? kept : "/";
}
