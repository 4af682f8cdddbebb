// One way to ask the server: by routes that are typed (routes.ts), refusals as values that say what to do. Nothing else
// calls fetch.
import { useSyncExternalStore } from "react";

import { pageSecret } from "@/api/secret";
import { PREFIX, type AnswerOf, type AskedOf, type Method, type PathOf } from "@/api/routes";

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

const outside = new Set<() => void>();

/** Calls `hear` when the server no longer accepts this browser's sign-in. */
export function onSignedOut(hear: () => void): () => void {
  outside.add(hear);
  return () => outside.delete(hear);
}

/** Has the person prove again who they are; false: they do not want to. */
let prove: (() => Promise<boolean>) | null = null;

export function onProof(ask: typeof prove): void {
  prove = ask;
}

const LATE_MS = 5000;
const late = new Set<symbol>();
const watching = new Set<() => void>();

function overdue(): void {
  for (const each of watching) each();
}

/** Whether a request has waited for its answer for longer than it should. */
export function useSilence(): boolean {
  return useSyncExternalStore(
    (changed) => {
      watching.add(changed);
      return () => watching.delete(changed);
    },
    () => late.size > 0,
  );
}

/** Waits for an answer, and has it known where that takes long; `more`: seconds that the server was asked to wait. */
async function answerOf(address: string, how: RequestInit, more: number): Promise<Response> {
  const one = Symbol();
  const timer = window.setTimeout(
    () => {
      late.add(one);
      overdue();
    },
    LATE_MS + more * 1000,
  );
  try {
    return await fetch(new Request(location.origin + PREFIX + address, how));
  } catch (error) {
    if (how.signal?.aborted) throw error; // cancelled here
    throw new Away("The server does not answer.");
  } finally {
    window.clearTimeout(timer);
    if (late.delete(one)) overdue();
  }
}

/** What any route may be given; which of it this one takes is in its types. */
interface Given {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: object;
  version?: number;
  idempotencyKey?: string;
  signal?: AbortSignal;
  last?: boolean;
}

/** A list is said once for each of its values; what is null or undefined is left out. */
function addressOf(route: string, { path = {}, query = {} }: Given): string {
  const place = route.replace(/{(\w+)}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const said = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => (each == null ? [] : [`${name}=${encodeURIComponent(String(each))}`])),
  );
  return said.length === 0 ? place : `${place}?${said.join("&")}`;
}

// the page's language, not the browser's: the server words its sentences in it
const said = () => ({ "X-Toryo": pageSecret() ?? "1", "Accept-Language": document.documentElement.lang || "en" });

/** What is none of the routes' documents: a file, a stream. The browser by itself would send the cookie alone. */
export async function open(address: string, how: RequestInit = {}): Promise<Response> {
  const request = new Request(location.origin + address, { headers: said(), credentials: "same-origin", ...how });
  return accepted(await fetch(request));
}

async function accepted(answer: Response, atTheDoor = false): Promise<Response> {
  if (answer.status === 401 && !atTheDoor) for (const each of outside) each();
  if (!answer.ok) throw new Refused(await problemOf(answer));
  return answer;
}

async function ask(method: Method, route: string, given: Given = {}): Promise<unknown> {
  const headers: Record<string, string> = said();
  const { body, signal, last = false } = given;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (given.version !== undefined) headers["If-Match"] = `"${given.version}"`;
  if (given.idempotencyKey !== undefined) headers["Idempotency-Key"] = given.idempotencyKey;
  const how: RequestInit = { method: method.toUpperCase(), headers, credentials: "same-origin", keepalive: last };
  if (body !== undefined) how.body = JSON.stringify(body);
  if (signal !== undefined) how.signal = signal;
  const answer = await answerOf(addressOf(route, given), how, Number(given.query?.["wait_seconds"] ?? 0));
  try {
    return (await accepted(answer, route === "/sign-in" || route === "/me")).json();
  } catch (error) {
    const proves = error instanceof Refused && error.problem.code === "proofRequired" && (await prove?.());
    if (proves) return ask(method, route, given);
    throw error;
  }
}

type Ask<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...given: object extends AskedOf<M, Path> ? [AskedOf<M, Path>?] : [AskedOf<M, Path>]
) => Promise<AnswerOf<M, Path>>;

const asking = <M extends Method>(method: M) => ((path: string, given?: Given) => ask(method, path, given)) as Ask<M>;

/** The server, by method and path: `api.get("/tasks/{task_id}", { path: { task_id } })`. */
export const api = {
  get: asking("get"),
  post: asking("post"),
  put: asking("put"),
  patch: asking("patch"),
  delete: asking("delete"),
};

async function problemOf(answer: Response): Promise<Problem> {
  const known = { status: answer.status, code: "", title: answer.statusText, detail: "", instruction: "" };
  const said: unknown = await answer.json().catch(() => null);
  return typeof said === "object" ? { ...known, ...said } : known;
}
