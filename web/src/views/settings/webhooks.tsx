// Webhooks: the tasks of a project that are created when another program sends a request, what became of those requests,
// and what to do about them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Pause, Pencil, Play, Plus, Trash2, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import type { Webhook, WebhookDelivery } from "@/api/model";
import { projects } from "@/api/queries";
import { ofWebhook } from "@/api/routes";
import { webhookDeliveries, webhooks } from "@/api/webhooks";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { navigate, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import {
  Badge,
  Button,
  Confirm,
  Copyable,
  Empty,
  Failed,
  Loading,
  Panel,
  SelectField,
  timeOfDay,
  useToast,
  type Tone,
} from "@/ui";
import { Head, Once } from "@/views/settings/parts";
import { WebhookForm } from "@/views/settings/webhook-form";

const TONES: Record<Webhook["state"], Tone> = { active: "green", paused: "amber", stopped: "red" };

export function WebhooksTab() {
  const { t } = useTranslation("settings");
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const { q } = useSearch();
  const writes = useWrites();
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const chosen = all.find((each) => each.project_id === q) ?? all[0];
  return (
    <>
      <Head title={t("tabs.webhooks")} help={t("webhook.help")}>
        {writes && (
          <Button look="primary" disabled={chosen === undefined} onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t("webhook.new")}
          </Button>
        )}
      </Head>
      {all.length > 1 && (
        <div className="max-w-xs">
          <SelectField
            label={t("webhook.project")}
            value={chosen?.project_id ?? ""}
            onChange={(id) => void navigate({ to: "/settings", search: { tab: "webhooks", q: id } })}
            choices={all.map((each) => ({ value: each.project_id, label: each.name }))}
          />
        </div>
      )}
      {chosen !== undefined && <Webhooks key={chosen.project_id} projectId={chosen.project_id} />}
      {chosen !== undefined && making && (
        <WebhookForm projectId={chosen.project_id} webhook={null} close={() => setMaking(false)} made={setSecret} />
      )}
      <Once title={t("webhook.made")} secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Webhooks({ projectId }: { projectId: string }) {
  const { t } = useTranslation("settings");
  const found = useQuery(webhooks(projectId));
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <Panel>
      {found.data.length === 0 && (
        <Empty icon={<WebhookIcon size={24} aria-hidden />} title={t("webhook.none")}>
          {t("webhook.noneHelp")}
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {found.data.map((each) => (
          <Row key={each.webhook_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ each }: { each: Webhook }) {
  const { t, i18n } = useTranslation("settings");
  const writes = useWrites();
  const names = useNames("");
  const [editing, setEditing] = useState(false);
  const [open, setOpen] = useState(false);
  const last = each.last_delivery;
  return (
    <li className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-40 font-medium break-words">{each.name}</p>
        <Badge tone={TONES[each.state]}>{t(`schedule.state.${each.state}`)}</Badge>
      </div>
      <Copyable text={`${window.location.origin}${each.path}`} />
      <p className="text-[13px] break-words text-soft">
        {[
          each.events.join(", ") || t("webhook.allEvents"),
          `${t("webhook.secret")}: ${each.secret_hint}`,
          each.task.assignee_id === null ? each.task.agent_type : names.agent(each.task.assignee_id),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {each.reason !== null && <p className="text-[13px] text-soft">{each.reason}</p>}
      {each.state === "stopped" && (
        <p className="text-[13px] text-red">{t("webhook.failedInARow", { count: each.failures })}</p>
      )}
      {last !== null && (
        <p className="text-[13px] break-words text-soft">
          {t("webhook.last")}: {timeOfDay(last.at, i18n.language)} <Outcome delivery={last} />
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {writes && <Acts each={each} edit={() => setEditing(true)} />}
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("webhook.history")}
        </Button>
      </div>
      {open && <History webhookId={each.webhook_id} />}
      {editing && <WebhookForm projectId={each.project_id} webhook={each} close={() => setEditing(false)} />}
    </li>
  );
}

function Acts({ each, edit }: { each: Webhook; edit: () => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [asked, setAsked] = useState<"rotate" | "delete" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const path = ofWebhook(each.webhook_id);
  async function done(what: Promise<unknown>, told: string) {
    try {
      await what;
      toast.done(told);
      await client.invalidateQueries({ queryKey: ["webhooks"] });
    } catch (error) {
      toast.failed(error);
    }
  }
  const rotate = () =>
    api.post("/webhooks/{webhook_id}/rotate-secret", path).then((answer) => setSecret(answer.secret));
  return (
    <>
      {each.state === "active" ? (
        <Button
          small
          onClick={() =>
            void done(api.post("/webhooks/{webhook_id}/pause", { ...path, body: {} }), t("webhook.paused"))
          }
        >
          <Pause size={14} aria-hidden />
          {t("webhook.pause")}
        </Button>
      ) : (
        <Button small onClick={() => void done(api.post("/webhooks/{webhook_id}/resume", path), t("webhook.resumed"))}>
          <Play size={14} aria-hidden />
          {t("webhook.resume")}
        </Button>
      )}
      <Button small onClick={edit}>
        <Pencil size={14} aria-hidden />
        {t("webhook.edit")}
      </Button>
      <Button small onClick={() => setAsked("rotate")}>
        <KeyRound size={14} aria-hidden />
        {t("webhook.rotate")}
      </Button>
      <Button small look="danger" onClick={() => setAsked("delete")}>
        <Trash2 size={14} aria-hidden />
        {t("webhook.delete")}
      </Button>
      <Confirm
        open={asked === "rotate"}
        title={t("webhook.rotateTitle", { name: each.name })}
        action={t("webhook.rotate")}
        onClose={() => setAsked(null)}
        onConfirm={() => done(rotate(), t("webhook.rotated"))}
      >
        {t("webhook.rotateText")}
      </Confirm>
      <Confirm
        open={asked === "delete"}
        title={t("webhook.deleteTitle", { name: each.name })}
        action={t("webhook.delete")}
        onClose={() => setAsked(null)}
        onConfirm={() => done(api.delete("/webhooks/{webhook_id}", path), t("webhook.deleted"))}
      >
        {t("webhook.deleteText")}
      </Confirm>
      <Once title={t("webhook.rotated")} secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function History({ webhookId }: { webhookId: string }) {
  const { t, i18n } = useTranslation("settings");
  const found = useQuery(webhookDeliveries(webhookId));
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  if (found.data.length === 0) return <p className="text-[13px] text-soft">{t("webhook.noDeliveries")}</p>;
  return (
    <ul className="space-y-1 text-[13px]">
      {found.data.map((each) => (
        <li key={each.delivery_id} className="flex flex-wrap gap-x-3">
          <time dateTime={each.at} className="text-soft tabular-nums">
            {timeOfDay(each.at, i18n.language)}
          </time>
          {each.event !== null && <span className="text-soft">{each.event}</span>}
          <span className="min-w-0 break-words">
            <Outcome delivery={each} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Outcome({ delivery }: { delivery: WebhookDelivery }) {
  const { t } = useTranslation("settings");
  const openTask = useOpenTask();
  if (delivery.task_id !== null)
    return (
      <>
        <button type="button" className="underline" onClick={() => openTask(delivery.task_id)}>
          {t(`status.${delivery.task_status ?? "todo"}`)}
        </button>
        {delivery.waits && ` · ${t("webhook.waits")}`}
      </>
    );
  const times = delivery.times > 1 ? ` (${t("schedule.times", { count: delivery.times })})` : "";
  return (
    <>
      {t(`webhook.outcome.${delivery.outcome}`)}
      {delivery.reason !== null && `: ${delivery.reason}`}
      {times}
    </>
  );
}
