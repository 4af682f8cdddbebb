// The quota windows of accounts: how much of five hours, a day and a week is used, and what is kept for urgent work.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import type { Quota, QuotaWindow } from "@/api/model";
import { quotas } from "@/api/queries";
import { useOwns } from "@/app/may";
import { say, useSearch } from "@/app/routing";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import {
  Ago,
  Button,
  Countdown,
  Dialog,
  Failed,
  Form,
  Panel,
  SelectField,
  TextField,
  accountName,
  providersBeside,
  useToast,
  visible,
} from "@/ui";
import { Meter } from "@/views/usage/budgets";

/** What the server takes. */
const MOST_TOKENS = 10 ** 12;
const LIMITS = { "5h": "limit_5h", day: "limit_day", week: "limit_week" } as const;

export function Quotas() {
  const { t } = useTranslation("usage");
  const owns = useOwns();
  const { q: asked } = useSearch();
  const found = useQuery(quotas).data ?? [];
  const edited = owns ? found.find(({ account }) => account === asked) : undefined;
  const edit = (account: string | undefined) => say({ q: account }, { replace: true });
  if (found.length === 0) return null;
  return (
    <Panel title={t("quota.title")}>
      <ul className="divide-y divide-line">
        {found.map((each) => (
          <li key={each.account} className="space-y-2 px-4 py-3">
            <div className="flex flex-wrap items-center justify-between gap-3">
              <span className="min-w-0 break-words">
                <span className="font-medium">{visible(each.account)}</span>{" "}
                <span className="text-[13px] text-soft">{providersBeside(each)}</span>
              </span>
              <span className="flex items-center gap-2 text-[13px] text-soft">
                {each.reserve > 0 && <span>{t("quota.keeps", { percent: each.reserve })}</span>}
                {each.low_priority === "spare" && <span>{t("quota.spare")}</span>}
                {owns && (
                  <Button
                    small
                    aria-label={t("quota.editOf", { account: accountName(each) })}
                    onClick={() => edit(each.account)}
                  >
                    {t("quota.edit")}
                  </Button>
                )}
              </span>
            </div>
            {each.usable_at !== null && (
              <p className="text-[13px] text-red">
                {t("quota.usedUp")} <Countdown until={each.usable_at} />
              </p>
            )}
            <div className="grid gap-x-6 gap-y-2 sm:grid-cols-3">
              {each.windows.map((window) => (
                <Window key={window.length} account={accountName(each)} window={window} />
              ))}
            </div>
          </li>
        ))}
      </ul>
      {edited !== undefined && <Edit quota={edited} close={() => edit(undefined)} />}
    </Panel>
  );
}

function Window({ account, window }: { account: string; window: QuotaWindow }) {
  const { t, i18n } = useTranslation("usage");
  const name = t(`quota.length.${window.length}`);
  const count = (tokens: number) => tokens.toLocaleString(i18n.language);
  const used = count(window.used);
  const words = window.limit === null ? t("quota.used", { used }) : t("quota.of", { used, limit: count(window.limit) });
  return (
    <div className="min-w-0 space-y-1">
      <Meter
        name={name}
        label={`${account}, ${name}: ${words}`}
        words={words}
        part={window.limit === null ? null : Math.min(1, window.used / window.limit)}
      />
      <p className="text-[13px] text-faint">
        {window.learnt && <>{t("quota.learnt")} </>}
        {window.ends_at !== null && (
          <>
            {t("quota.ends")} <Ago at={window.ends_at} />
          </>
        )}
      </p>
      {window.reserve_kept ? (
        <p className="text-[13px] text-amber">{t("quota.kept")}</p>
      ) : (
        <>
          {window.runs_dry_at !== null && (
            <p className="text-[13px] text-amber">
              {t("quota.dry")} <Ago at={window.runs_dry_at} />
            </p>
          )}
          {window.spare_at !== null && (
            <p className="text-[13px] text-faint">
              {t("quota.spareAt")} <Ago at={window.spare_at} />
            </p>
          )}
        </>
      )}
    </div>
  );
}

type Edited = Partial<Record<"limit_5h" | "limit_day" | "limit_week" | "reserve" | "low_priority", string>>;

/** Only fields that one has edited are sent: others may have changed meanwhile. An emptied limit is learnt again. */
function Edit({ quota, close }: { quota: Quota; close: () => void }) {
  const { t } = useTranslation("usage");
  const client = useQueryClient();
  const toast = useToast();
  const [error, setError] = useState<unknown>(null);
  const [edited, , draft] = useDraft<Edited>(`quota ${quota.account}`, {});
  const shown = (name: keyof Edited) => edited[name] ?? String(quota[name] ?? "");

  async function save() {
    setError(null);
    const numbers = Object.entries(edited)
      .filter(([name, value]) => value.trim() !== String(quota[name as keyof Edited] ?? ""))
      .map(([name, value]) => [name, name === "low_priority" ? value : value.trim() === "" ? null : Number(value)]);
    try {
      await api.patch("/quotas/{account}", { path: { account: quota.account }, body: Object.fromEntries(numbers) });
      await client.invalidateQueries({ queryKey: ["quotas"] });
      toast.done(t("quota.saved"));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }

  return (
    <Dialog open onClose={close} title={t("quota.editOf", { account: accountName(quota) })}>
      <Form className="space-y-4" onSend={() => void save()}>
        <DraftLine draft={draft} />
        {quota.windows.map(({ length }) => (
          <TextField
            key={length}
            label={t("quota.limit", { length: t(`quota.length.${length}`) })}
            type="number"
            min={1}
            max={MOST_TOKENS}
            placeholder={t("quota.unset")}
            value={shown(LIMITS[length])}
            onChange={draft.field(LIMITS[length])}
          />
        ))}
        <TextField
          label={t("quota.reserve")}
          help={t("quota.reserveHelp")}
          type="number"
          min={0}
          max={90}
          required
          value={shown("reserve")}
          onChange={draft.field("reserve")}
        />
        <SelectField
          label={t("quota.low")}
          help={t("quota.lowHelp")}
          choices={[
            { value: "any", label: t("quota.lowAny") },
            { value: "spare", label: t("quota.lowSpare") },
          ]}
          value={shown("low_priority")}
          onChange={draft.field("low_priority")}
        />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit">
            {t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
