// Whether this browser is notified, about what, and when not.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BellOff, BellRing, Send } from "lucide-react";

import { api } from "@/api/client";
import type { NotificationSettings } from "@/api/model";
import { notificationSettings } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { hindrance, subscribe, unsubscribe } from "@/push/subscription";
import { Button, Checkbox, Failed, Loading, Panel, TextField, useToast } from "@/ui";

const KINDS = [
  "approval",
  "message",
  "question",
  "review",
  "blocked",
  "blocked_by_guard",
  "failed",
  "runaway",
  "stuck",
  "stalled",
  "nobody_came",
  "delegation_failed",
  "dead_letter",
  "schedule_stopped",
  "webhook_stopped",
  "merge_queue",
  "budget_used_up",
  "agent_cannot_start",
  "sign_in_locked",
  "task",
] as const;

export function Notifications() {
  const { t } = useTranslation("settings");
  const found = useQuery(notificationSettings);
  return (
    <Panel title={t("notify.title")}>
      <div className="space-y-4 p-4">
        {found.isPending && <Loading rows={2} />}
        {found.isError && <Failed error={found.error} />}
        {found.data !== undefined && <Settings settings={found.data} />}
      </div>
    </Panel>
  );
}

function Settings({ settings }: { settings: NotificationSettings }) {
  const { t } = useTranslation("settings");
  if (!settings.possible) return <p className="text-soft">{t("notify.impossible")}</p>;
  return (
    <>
      <ThisBrowser settings={settings} />
      <Kinds settings={settings} />
      <Quiet key={JSON.stringify(settings.quiet_hours)} settings={settings} />
    </>
  );
}

function ThisBrowser({ settings }: { settings: NotificationSettings }) {
  const { t } = useTranslation("settings");
  const keep = useKeep();
  const toast = useToast();
  const turn = useMutation({
    mutationFn: async () => (settings.this_browser ? unsubscribe() : subscribe()),
    onSuccess: (answer) => (answer === null ? toast.failed(new Error(t("notify.not.denied"))) : keep(answer)),
  });
  const test = useMutation({
    mutationFn: () => api.post("/push-subscription/test"),
    onSuccess: () => toast.done(t("notify.tested")),
  });
  const why = hindrance();
  return (
    <div className="space-y-2">
      <p className="text-soft">{t(settings.this_browser ? "notify.on" : "notify.off")}</p>
      {why !== null && <p className="text-amber">{t(`notify.not.${why}`)}</p>}
      <div className="flex flex-wrap gap-2">
        <Button
          look={settings.this_browser ? "plain" : "primary"}
          disabled={turn.isPending || (why !== null && !settings.this_browser)}
          onClick={() => turn.mutate()}
        >
          {settings.this_browser ? <BellOff size={15} aria-hidden /> : <BellRing size={15} aria-hidden />}
          {t(settings.this_browser ? "notify.turnOff" : "notify.turnOn")}
        </Button>
        {settings.browsers > 0 && (
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            <Send size={15} aria-hidden />
            {t("notify.test")}
          </Button>
        )}
      </div>
      {turn.isError && <Failed error={turn.error} />}
      {test.isError && <Failed error={test.error} />}
    </div>
  );
}

function Kinds({ settings }: { settings: NotificationSettings }) {
  const { t } = useTranslation("settings");
  const { t: ofNeeds } = useTranslation("home");
  const { change, error } = useChange();
  const muted = new Set(settings.muted);
  function turn(kind: (typeof KINDS)[number], on: boolean) {
    const after = on ? settings.muted.filter((each) => each !== kind) : [...settings.muted, kind];
    change({ muted: after });
  }
  return (
    <fieldset>
      <legend className="mb-1 text-[13px] font-medium">{t("notify.kinds")}</legend>
      <div className="grid gap-x-4 sm:grid-cols-2 lg:grid-cols-3">
        {KINDS.map((kind) => (
          <Checkbox
            key={kind}
            label={ofNeeds(`kind.${kind}`)}
            checked={!muted.has(kind)}
            onChange={(on) => turn(kind, on)}
          />
        ))}
      </div>
      {error !== null && <Failed error={error} />}
    </fieldset>
  );
}

/** The person's browser knows in which time zone the hours are meant. */
function Quiet({ settings }: { settings: NotificationSettings }) {
  const { t } = useTranslation("settings");
  const { change, error } = useChange();
  const hours = settings.quiet_hours;
  const zone = hours === null ? Intl.DateTimeFormat().resolvedOptions().timeZone : settings.time_zone;
  const put = (after: { begin: string; end: string } | null) => change({ quiet_hours: after, time_zone: zone });
  return (
    <div className="space-y-2">
      <Checkbox
        label={t("notify.quiet")}
        checked={hours !== null}
        onChange={(on) => put(on ? { begin: "22:00", end: "07:00" } : null)}
      />
      {hours !== null && (
        <div className="flex flex-wrap items-end gap-3">
          <TextField
            type="time"
            required
            label={t("notify.from")}
            value={hours.begin}
            onChange={(begin) => begin !== "" && put({ ...hours, begin })}
          />
          <TextField
            type="time"
            required
            label={t("notify.to")}
            value={hours.end}
            onChange={(end) => end !== "" && put({ ...hours, end })}
          />
          <p className="pb-2 text-xs text-faint">{zone}</p>
        </div>
      )}
      <p className="text-xs text-faint">{t("notify.quietHelp")}</p>
      {error !== null && <Failed error={error} />}
    </div>
  );
}

function useKeep() {
  const client = useQueryClient();
  return (answer: NotificationSettings) => client.setQueryData(notificationSettings.queryKey, answer);
}

/** Shown at once, and taken back where the server refuses it. */
function useChange() {
  const client = useQueryClient();
  const keep = useKeep();
  const { mutate, error } = useMutation({
    mutationFn: (body: Partial<Pick<NotificationSettings, "muted" | "quiet_hours" | "time_zone">>) =>
      api.patch("/notification-settings", { body }),
    onMutate: (body) => {
      const before = client.getQueryData(notificationSettings.queryKey);
      if (before !== undefined) keep({ ...before, ...body });
      return before;
    },
    onSuccess: keep,
    onError: (_error, _body, before) => before && keep(before),
  });
  return { change: mutate, error };
}
