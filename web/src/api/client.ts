// One way to ask the server: JSON in and out, refusals as values that say what to do. Nothing else calls fetch.

const PREFIX = "/api/v1";

/** RFC 9457 problem details with the refusal's code and the next step. */
export interface Problem {
  status: number;
  code: string;
  title: string;
  detail: string;
  instruction: string;
  [more: string]: unknown;
}

export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

/** The server did not answer at all. */
export class Away extends Error {}

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

export interface Asked {
  query?: Query | undefined;
  body?: unknown;
  version?: number | undefined;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Said while the page goes: the browser sends it even so. */
  last?: boolean | undefined;
}

const outside = new Set<() => void>();

/** Calls `hear` when the server no longer accepts this browser's sign-in. */
export function onSignedOut(hear: () => void): () => void {
  outside.add(hear);
  return () => outside.delete(hear);
}

export function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return ask<Answer>("GET", path, { query, signal });
}

export function send<Answer>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  asked: Asked = {},
): Promise<Answer> {
  return ask<Answer>(method, path, asked);
}

async function ask<Answer>(method: string, path: string, asked: Asked): Promise<Answer> {
  // the page's language, not the browser's: the server words its sentences in it
  const headers: Record<string, string> = { "X-Toryo": "1", "Accept-Language": document.documentElement.lang || "en" };
  if (asked.body !== undefined) headers["Content-Type"] = "application/json";
  if (asked.version !== undefined) headers["If-Match"] = `"${asked.version}"`;
  if (asked.idempotencyKey !== undefined) headers["Idempotency-Key"] = asked.idempotencyKey;
  let answer: Response;
  try {
    answer = await fetch(PREFIX + path + queryString(asked.query), {
      method,
      headers,
      credentials: "same-origin",
      signal: asked.signal ?? null,
      keepalive: asked.last ?? false,
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Away("The server does not answer.");
  }
  if (answer.status === 401 && path !== "/sign-in" && path !== "/me") for (const each of outside) each();
  if (!answer.ok) throw new Refused(await problemOf(answer));
  return (await answer.json()) as Answer;
}

export function queryString(query: Query | undefined): string {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) said.append(name, String(each));
  }
  const text = said.toString();
  return text ? `?${text}` : "";
}

async function problemOf(answer: Response): Promise<Problem> {
  const known = { status: answer.status, code: "", title: answer.statusText, detail: "", instruction: "" };
  try {
    return { ...known, ...((await answer.json()) as object) };
  } catch {
    return known;
  }
}
