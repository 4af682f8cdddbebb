// What is half written, kept by the browser for the person who wrote it: a bounded number, of bounded size, for a month.
// Passwords and other secrets are never put here.

const PREFIX = "toryo.draft:";
const LONGEST = 200_000;
const MOST = 50;
const DAYS = 30;
const DAY_MS = 86_400_000;

interface Kept {
  value: unknown;
  at: number;
}

const keyOf = (who: string, place: string) => `${PREFIX}${encodeURIComponent(who)}:${place}`;

function read(key: string): Kept | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Kept | null;
    return typeof kept?.at === "number" && kept.at > Date.now() - DAYS * DAY_MS ? kept : null;
  } catch {
    return null;
  }
}

/** What was kept for this place; undefined: nothing. */
export function kept(who: string, place: string): unknown {
  return read(keyOf(who, place))?.value;
}

/** Whether it is kept: what is too long, or more than the browser allows, is not. */
export function keep(who: string, place: string, value: unknown): boolean {
  const text = JSON.stringify({ value, at: Date.now() } satisfies Kept);
  if (text.length > LONGEST) return false;
  try {
    localStorage.setItem(keyOf(who, place), text);
  } catch {
    return false;
  }
  return true;
}

export function forget(who: string, place: string): void {
  localStorage.removeItem(keyOf(who, place));
}

/** Removes what is too old, of everybody, and the oldest of what is more than there is room for. */
export function tidy(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  const fresh = keys
    .map((key) => ({ key, at: read(key)?.at ?? 0 }))
    .toSorted((one, other) => other.at - one.at)
    .filter(({ at }) => at > 0);
  const staying = new Set(fresh.slice(0, MOST).map(({ key }) => key));
  for (const key of keys) if (!staying.has(key)) localStorage.removeItem(key);
}
