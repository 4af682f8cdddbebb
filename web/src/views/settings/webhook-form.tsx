// Creating or changing a webhook: which events, and which task they create.
import type { Webhook } from "@/api/model";
import { addWebhook, editWebhook } from "@/api/webhooks";
import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { TextField } from "@/ui";
import { sourceBody, sourceFields, SourceForm, sourceWrong } from "@/views/settings/source-form";

const EXAMPLE = "{{ body.issue.title }}";

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
  const [said, , draft] = useDraft(webhook === null ? `new-webhook.${projectId}` : `webhook.${webhook.webhook_id}`, {
    ...sourceFields(webhook),
    events: webhook?.events.join(", ") ?? "",
  });
  async function save(key: string) {
    const body = { ...sourceBody(said, webhook), events: said.events.split(/[\s,、]+/).filter(Boolean) };
    if (webhook === null) made?.((await addWebhook(projectId, body, key)).secret);
    else await editWebhook(webhook.webhook_id, body);
  }
  return (
    <SourceForm
      kind="webhook"
      projectId={projectId}
      titleHelp={t("webhook.titleHelp", { title: EXAMPLE })}
      before={webhook}
      said={said}
      field={draft.field}
      draft={draft}
      wrong={sourceWrong(said)}
      save={save}
      close={close}
    >
      <TextField
        label={t("webhook.events")}
        help={t("webhook.eventsHelp")}
        value={said.events}
        onChange={draft.field("events")}
        autoCapitalize="none"
        spellCheck={false}
      />
    </SourceForm>
  );
}
