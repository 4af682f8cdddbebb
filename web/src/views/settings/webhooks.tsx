// Webhooks: the tasks of a project that are created when another program sends a request, what became of those requests,
// and what to do about them.
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";

import { resumeWebhook } from "@/api/actions";
import type { Webhook } from "@/api/model";
import { deleteWebhook, pauseWebhook, rotateSecret, webhookDeliveries, webhooks } from "@/api/webhooks";
import { useTranslation } from "@/i18n/use-words";
import { Button, Confirm, Copyable, timeOfDay } from "@/ui";
import { Once } from "@/views/settings/parts";
import { History, Outcome, SourceRow, SourceTab, useDone } from "@/views/settings/sources";
import { WebhookForm } from "@/views/settings/webhook-form";

const useWebhooks = (projectId: string) => useQuery(webhooks(projectId));

export function WebhooksTab() {
  const { t } = useTranslation("settings");
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <SourceTab
        kind="webhook"
        icon={WebhookIcon}
        useAll={useWebhooks}
        row={(each) => <Row key={each.webhook_id} each={each} />}
        form={(projectId, close) => <WebhookForm projectId={projectId} webhook={null} close={close} made={setSecret} />}
      />
      <Once title={t("webhook.made")} secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Row({ each }: { each: Webhook }) {
  const { t, i18n } = useTranslation("settings");
  const id = each.webhook_id;
  const last = each.last_delivery;
  return (
    <SourceRow
      kind="webhook"
      each={each}
      facts={[each.events.join(", ") || t("webhook.allEvents"), `${t("webhook.secret")}: ${each.secret_hint}`]}
      last={
        last && (
          <>
            {timeOfDay(last.at, i18n.language)} <Outcome kind="webhook" each={last} />
          </>
        )
      }
      pause={() => pauseWebhook(id)}
      resume={() => resumeWebhook(id)}
      remove={() => deleteWebhook(id)}
      more={<Rotate each={each} />}
      history={<Deliveries of={id} />}
      form={(close) => <WebhookForm projectId={each.project_id} webhook={each} close={close} />}
    >
      <Copyable text={`${window.location.origin}${each.path}`} />
    </SourceRow>
  );
}

function Rotate({ each }: { each: Webhook }) {
  const { t } = useTranslation("settings");
  const done = useDone("webhook");
  const [asked, setAsked] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = () => rotateSecret(each.webhook_id).then((answer) => setSecret(answer.secret));
  return (
    <>
      <Button small onClick={() => setAsked(true)}>
        <KeyRound size={14} aria-hidden />
        {t("webhook.rotate")}
      </Button>
      <Confirm
        open={asked}
        title={t("webhook.rotateTitle", { name: each.name })}
        action={t("webhook.rotate")}
        onClose={() => setAsked(false)}
        onConfirm={() => done(rotate(), t("webhook.rotated"))}
      >
        {t("webhook.rotateText")}
      </Confirm>
      <Once title={t("webhook.rotated")} secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Deliveries({ of }: { of: string }) {
  return <History kind="webhook" found={useQuery(webhookDeliveries(of))} />;
}
