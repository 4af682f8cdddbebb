// What an address says: what its path names, and the words behind it. Where one is, and going elsewhere, is in
// routing.tsx.

/** What the path names: `$projectId` in the path of a route. */
export type Params = Readonly<Partial<Record<string, string>>>;

/** Which task is open, what is searched, how it is shown. */
export interface Search {
  task?: string;
  agent?: string;
  launch?: string;
  tab?: string;
  q?: string;
  by?: string;
  /** The request whose tree is shown: its correlation id, or the id of one of its tasks. */
  trace?: string;
  /** The instant that is looked at; none: now. */
  at?: string;
  /** A place in a log: a line (`L12`), or the instant of what was printed. */
  pos?: string;
}

const NAMES = ["task", "agent", "launch", "tab", "q", "by", "trace", "at", "pos"] as const;

/** The words that an address knows, in their order. */
export function known(given: Record<string, string | undefined>): Search {
  const said: Search = {};
  for (const name of NAMES) if (given[name] !== undefined) said[name] = given[name];
  return said;
}

/** What stands behind a path. Addresses that were kept have numbers and the like in quotes: what is meant is inside. */
export const searchIn = (text: string): Search =>
  known(Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, unquoted(value)])));

function unquoted(value: string): string {
  if (!/^".*"$/s.test(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

/** The address of a path whose `$name` are these; what is in quotes itself gets another pair. */
export function addressWith(path: string, params: Params = {}, search: Search = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(search) as [string, string | undefined][])
    if (value !== undefined) words.set(name, unquoted(value) === value ? value : JSON.stringify(value));
  const named = path.replace(/\$(\w+)/g, (all, name: string) => encodeURIComponent(params[name] ?? all));
  return words.size === 0 ? named : `${named}?${words.toString()}`;
}

/** What a path names, if it is one of this pattern. */
export function paramsIn(pattern: string, path: string): Params | undefined {
  const parts = new RegExp(`^${pattern.replace(/\$(\w+)/g, "(?<$1>[^/]+)").replace("*", ".*")}/?$`).exec(path);
  if (parts === null) return undefined;
  return Object.fromEntries(Object.entries(parts.groups ?? {}).map(([name, part]) => [name, decoded(part)]));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand: a `%` that begins nothing
  }
}
