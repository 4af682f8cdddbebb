// Tokens for programs that call the API in one's name: made (shown once) and revoked.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import { DraftLine, useDraft } from "@/drafts";
import type { AccessToken } from "@/api/model";
import { accessTokens } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Button, Confirm, Dialog, Failed, Form, Panel, TextField, useToast } from "@/ui";
import { Once } from "@/views/settings/parts";

const USUAL_DAYS = "90";

export function Tokens() {
  const { t } = useTranslation("settings");
  const found = useQuery(accessTokens);
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Panel
      title={t("token.title")}
      aside={
        <Button small onClick={() => setMaking(true)}>
          {t("token.new")}
        </Button>
      }
    >
      <p className="px-4 pt-3 text-soft">{t("token.help")}</p>
      {found.isError && <Failed error={found.error} />}
      {found.data?.length === 0 && <p className="px-4 py-3 text-faint">{t("token.none")}</p>}
      <ul className="divide-y divide-line pb-1">
        {found.data?.map((each) => (
          <Token key={each.token_id} each={each} />
        ))}
      </ul>
      {making && <NewToken close={() => setMaking(false)} made={setSecret} />}
      <Once title={t("token.made")} secret={secret} onClose={() => setSecret(null)} />
    </Panel>
  );
}

function Token({ each }: { each: AccessToken }) {
  const { t, i18n } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [asking, setAsking] = useState(false);
  async function revoke() {
    await api.delete("/access-tokens/{token_id}", { path: { token_id: each.token_id } });
    toast.done(t("token.revoked"));
    void client.invalidateQueries({ queryKey: ["access-tokens"] });
  }
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{each.name}</p>
        <p className="text-[13px] text-soft">
          {t(`person.logins.${each.login}`)} · <Ago at={each.created_at} />
          {each.expires_at !== null &&
            ` · ${t("token.until", { time: new Date(each.expires_at).toLocaleDateString(i18n.language, { dateStyle: "medium" }) })}`}
        </p>
      </div>
      <Button small look="danger" onClick={() => setAsking(true)}>
        {t("token.revoke")}
      </Button>
      <Confirm
        open={asking}
        title={t("token.revokeTitle", { name: each.name })}
        action={t("token.revoke")}
        onClose={() => setAsking(false)}
        onConfirm={revoke}
      >
        {t("token.revokeText")}
      </Confirm>
    </li>
  );
}

function NewToken({ close, made }: { close: () => void; made: (secret: string) => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const [{ name, days }, , draft] = useDraft("new-token", { name: "", days: USUAL_DAYS });
  const [error, setError] = useState<unknown>(null);
  async function make() {
    setError(null);
    try {
      const body = { name, days: days ? Number(days) : undefined };
      const { token } = await api.post("/access-tokens", { body });
      await client.invalidateQueries({ queryKey: ["access-tokens"] });
      draft.done();
      close();
      made(token);
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={t("token.new")}>
      <Form className="space-y-4" onSend={() => void make()}>
        <DraftLine draft={draft} />
        <TextField label={t("token.name")} value={name} onChange={draft.field("name")} maxLength={100} required />
        <TextField
          label={t("token.days")}
          type="number"
          min={1}
          max={3650}
          value={days}
          onChange={draft.field("days")}
        />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={name.trim() === ""}>
            {t("token.make")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
