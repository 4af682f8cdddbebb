// What OpenAPI says of each route, as types: which paths there are, what a call of one takes, and what it answers. All
// of it is taken from schema.ts, so that a path or a field that was renamed does not compile.
import type { paths } from "@/api/schema";

export const PREFIX = "/api/v1";

/** By path, without the prefix that all of them have. */
export type Routes = {
  [Path in keyof paths as Path extends `${typeof PREFIX}${infer Rest}` ? Rest : never]: paths[Path];
};

export type Method = "get" | "post" | "put" | "patch" | "delete";

export type PathOf<M extends Method> = {
  [Path in keyof Routes]: Routes[Path] extends Record<M, object> ? Path : never;
}[keyof Routes];

/** A field that may be left out may also be undefined: JSON leaves it out then, and so does a query. */
type Sendable<Fields> = {
  [Name in keyof Fields]: object extends Pick<Fields, Name> ? Fields[Name] | undefined : Fields[Name];
};

/** `{ [name]: fields }`, which may be left out if all fields may; nothing if there are none. */
type Part<Name extends string, Fields> = [Fields] extends [never]
  ? unknown
  : object extends Fields
    ? { [Key in Name]?: Sendable<Fields> | undefined }
    : { [Key in Name]: Sendable<Fields> };

type Json<Sent> = Sent extends { content: { "application/json": infer Fields } } ? Fields : never;

interface Operation {
  parameters: { path?: unknown; query?: unknown; header?: unknown };
  requestBody?: unknown;
  responses: unknown;
}

type Header<Headers, Name extends string, As> = [Headers] extends [never]
  ? unknown
  : Name extends keyof Headers
    ? As
    : unknown;

/** What a call of this route is given. `version`: the version that was read; another one is a conflict. */
type Asked<Of extends Operation> = Part<"path", NonNullable<Of["parameters"]["path"]>> &
  Part<"query", NonNullable<Of["parameters"]["query"]>> &
  Part<"body", Json<NonNullable<Of["requestBody"]>>> &
  Header<NonNullable<Of["parameters"]["header"]>, "If-Match", { version?: number | undefined }> &
  Header<NonNullable<Of["parameters"]["header"]>, "Idempotency-Key", { idempotencyKey?: string | undefined }> & {
    signal?: AbortSignal | undefined;
    /** Said while the page goes: the browser sends it even so. */
    last?: boolean | undefined;
  };

/** What the server answers where it does it, without what only agents are told. */
type Told<Of extends { responses: unknown }> = Omit<
  Json<Of["responses"][keyof Of["responses"] & (200 | 201 | 202)]>,
  "success" | "next" | "notifications_pending"
>;

type OperationOf<M extends Method, Path extends PathOf<M>> = Extract<Routes[Path][M], Operation>;

export type AskedOf<M extends Method, Path extends PathOf<M>> = Asked<OperationOf<M, Path>>;
export type AnswerOf<M extends Method, Path extends PathOf<M>> = Told<OperationOf<M, Path>>;
export type BodyOf<M extends Method, Path extends PathOf<M>> = Sendable<
  Json<NonNullable<OperationOf<M, Path>["requestBody"]>>
>;
export type QueryOf<M extends Method, Path extends PathOf<M>> = Sendable<
  NonNullable<OperationOf<M, Path>["parameters"]["query"]>
>;

// The parameters that most paths have.
export const inProject = (projectId: string) => ({ path: { project_id: projectId } });
export const ofTask = (taskId: string) => ({ path: { task_id: taskId } });
export const ofSchedule = (scheduleId: string) => ({ path: { schedule_id: scheduleId } });
export const ofWebhook = (webhookId: string) => ({ path: { webhook_id: webhookId } });
export const ofMemory = (memoryId: string) => ({ path: { memory_id: memoryId } });
export const ofAgent = (agentId: string) => ({ path: { agent_id: agentId } });
