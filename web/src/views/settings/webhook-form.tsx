// Creating or changing a webhook: which events, and which task they create.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import type { Webhook } from "@/api/model";
import { members } from "@/api/queries";
import { inProject, ofWebhook } from "@/api/routes";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Failed, Form, More, SelectField, TextArea, TextField, useToast } from "@/ui";

const PRIORITIES = ["critical", "high", "medium", "low"] as const;
const EXAMPLE = "{{ body.issue.title }}";

interface Said {
  name: string;
  events: string;
  title: string;
  description: string;
  assignee: string;
  priority: Webhook["task"]["priority"];
  max_failures: string;
}

const fieldsOf = (each: Webhook | null): Said => ({
  name: each?.name ?? "",
  events: each?.events.join(", ") ?? "",
  title: each?.task.title ?? "",
  description: each?.task.description ?? "",
  assignee: each?.task.assignee_id ?? "",
  priority: each?.task.priority ?? "medium",
  max_failures: String(each?.max_failures ?? 3),
});

interface WebhookFormProps {
  projectId: string;
  /** Null: it is made. */
  webhook: Webhook | null;
  close: () => void;
  /** With its secret. */
  made?: (secret: string) => void;
}

export function WebhookForm({ projectId, webhook, close, made }: WebhookFormProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const all = useQuery(members(projectId)).data ?? [];
  const [said, , draft] = useDraft(
    webhook === null ? `new-webhook.${projectId}` : `webhook.${webhook.webhook_id}`,
    fieldsOf(webhook),
  );
  const [key] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  const number = said.max_failures.trim() !== "" && Number(said.max_failures) >= 0;
  async function save() {
    setError(null);
    const assigned = said.assignee === (webhook?.task.assignee_id ?? "") ? {} : { assignee_id: said.assignee || null };
    const body = {
      name: said.name,
      events: said.events.split(/[\s,、]+/).filter(Boolean),
      title: said.title,
      description: said.description,
      priority: said.priority,
      max_failures: Number(said.max_failures),
      ...assigned,
    };
    try {
      if (webhook === null) {
        const answer = await api.post("/projects/{project_id}/webhooks", {
          ...inProject(projectId),
          body,
          idempotencyKey: key,
        });
        made?.(answer.secret);
      } else await api.patch("/webhooks/{webhook_id}", { ...ofWebhook(webhook.webhook_id), body });
      await client.invalidateQueries({ queryKey: ["webhooks"] });
      toast.done(t("webhook.saved", { name: said.name }));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={webhook === null ? t("webhook.new") : webhook.name}>
      <Form className="space-y-4" onSend={() => void save()}>
        <DraftLine draft={draft} />
        <TextField
          label={t("webhook.name")}
          value={said.name}
          onChange={draft.field("name")}
          maxLength={200}
          required
        />
        <TextField
          label={t("webhook.events")}
          help={t("webhook.eventsHelp")}
          value={said.events}
          onChange={draft.field("events")}
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextField
          label={t("schedule.title")}
          help={t("webhook.titleHelp", { title: EXAMPLE })}
          value={said.title}
          onChange={draft.field("title")}
          maxLength={300}
          required
        />
        <TextArea
          label={t("schedule.description")}
          value={said.description}
          onChange={draft.field("description")}
          rows={3}
        />
        <SelectField
          label={t("schedule.assignee")}
          help={t("schedule.assigneeHelp")}
          value={said.assignee}
          onChange={draft.field("assignee")}
          choices={[
            { value: "", label: t("agent.nobody") },
            ...all.map((each) => ({ value: each.agent_id, label: each.name })),
          ]}
        />
        <More open={webhook !== null}>
          <TextField
            label={t("schedule.maxFailures")}
            help={t("schedule.maxFailuresHelp")}
            value={said.max_failures}
            onChange={draft.field("max_failures")}
            inputMode="numeric"
          />
          <SelectField
            label={t("schedule.priority")}
            value={said.priority}
            onChange={draft.field("priority")}
            choices={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
          />
        </More>
        {webhook !== null && <p className="text-xs text-faint">{t("schedule.runsAsYou")}</p>}
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button
            look="primary"
            type="submit"
            disabled={said.name.trim() === "" || said.title.trim() === "" || !number}
          >
            {webhook === null ? t("webhook.create") : t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
