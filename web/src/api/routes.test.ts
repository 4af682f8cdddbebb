// That what OpenAPI does not say does not compile: `npm run check` fails where one of these lines begins to.
import { expect, it } from "vitest";

import { api } from "@/api/client";

const task = { path: { task_id: "t1" } };

/** Never called: it only has to compile. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error there is no such path
  await api.get("/task/{task_id}", task);
  // @ts-expect-error the path is there, but not for this method
  await api.delete("/tasks/{task_id}", task);
  // @ts-expect-error its parameter has another name
  await api.get("/tasks/{task_id}", { path: { id: "t1" } });
  // @ts-expect-error its parameter is missing
  await api.get("/tasks/{task_id}");
  // @ts-expect-error a field of the query has another name
  await api.get("/launches", { query: { project_id: "shop", alive: true } });
  // @ts-expect-error a field of the query is no number
  await api.get("/launches", { query: { limit: "ten" } });
  // @ts-expect-error a field of the body has another name
  await api.post("/tasks/{task_id}/move", { ...task, body: { status: "todo", because: "so" } });
  // @ts-expect-error a field of the body is missing
  await api.post("/tasks/{task_id}/steer", { ...task, body: {} });
  // @ts-expect-error a field of the body is none of its words
  await api.post("/tasks/{task_id}/move", { ...task, body: { status: "gone" } });
  // @ts-expect-error it has no version
  await api.post("/tasks/{task_id}/steer", { ...task, body: { text: "x" }, version: 1 });
  // @ts-expect-error it has no key: repeating it does no harm
  await api.patch("/tasks/{task_id}", { ...task, idempotencyKey: "once" });
  // @ts-expect-error the answer has no such field
  void (await api.get("/me")).role;
  // @ts-expect-error a field of the answer is no number
  (await api.get("/me")).name satisfies number;
}

it("takes what OpenAPI says, and nothing else", () => expect(mistakes).toBeTypeOf("function"));
