// What is read of webhooks, and done with them.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject, ofWebhook, type BodyOf } from "@/api/routes";

/** Of a project, the oldest first. */
export const webhooks = (projectId: string) =>
  queryOptions({
    queryKey: ["webhooks", projectId],
    queryFn: () => api.get("/projects/{project_id}/webhooks", inProject(projectId)).then((answer) => answer.webhooks),
  });

/** The last twenty, the newest first. */
export const webhookDeliveries = (webhookId: string) =>
  queryOptions({
    queryKey: ["webhooks", "deliveries", webhookId],
    queryFn: () =>
      api
        .get("/webhooks/{webhook_id}/deliveries", { ...ofWebhook(webhookId), query: { limit: 20 } })
        .then((answer) => answer.deliveries),
  });

type New = BodyOf<"post", "/projects/{project_id}/webhooks">;
type Changes = BodyOf<"patch", "/webhooks/{webhook_id}">;

export const addWebhook = (projectId: string, body: New, idempotencyKey: string) =>
  api.post("/projects/{project_id}/webhooks", { ...inProject(projectId), body, idempotencyKey });
export const editWebhook = (id: string, body: Changes) =>
  api.patch("/webhooks/{webhook_id}", { ...ofWebhook(id), body });
export const pauseWebhook = (id: string) => api.post("/webhooks/{webhook_id}/pause", { ...ofWebhook(id), body: {} });
export const rotateSecret = (id: string) => api.post("/webhooks/{webhook_id}/rotate-secret", ofWebhook(id));
export const deleteWebhook = (id: string) => api.delete("/webhooks/{webhook_id}", ofWebhook(id));
