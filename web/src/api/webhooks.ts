// What is read of webhooks.
import { queryOptions } from "@tanstack/react-query";

import { api } from "@/api/client";
import { inProject, ofWebhook } from "@/api/routes";

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
