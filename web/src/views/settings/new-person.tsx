// Adding somebody. They come in with a link, a password that they are given, or by an identity provider.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Failed, Form, SelectField, TextField, useToast } from "@/ui";

const LOGINS = ["member", "viewer", "owner"] as const;
const EMPTY = { id: "", name: "", email: "", login: "member" as (typeof LOGINS)[number] };

export function NewPerson({ close }: { close: () => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [{ id, name, email, login }, , draft] = useDraft("new-person", EMPTY);
  const [error, setError] = useState<unknown>(null);
  async function add() {
    setError(null);
    try {
      const body = { person_id: id, login, name: name || undefined, email: email || undefined };
      await api.post("/people", { body });
      await client.invalidateQueries({ queryKey: ["people"] });
      toast.done(t("person.added", { name: name || id }));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={t("person.new")}>
      <Form className="space-y-4" onSend={() => void add()}>
        <DraftLine draft={draft} />
        <TextField label={t("person.id")} help={t("agent.idHelp")} value={id} onChange={draft.field("id")} required />
        <TextField label={t("person.name")} value={name} onChange={draft.field("name")} />
        <TextField
          label={t("person.email")}
          help={t("person.emailHelp")}
          type="email"
          value={email}
          onChange={draft.field("email")}
        />
        <SelectField
          label={t("person.login")}
          value={login}
          onChange={draft.field("login")}
          choices={LOGINS.map((value) => ({ value, label: t(`person.logins.${value}`) }))}
        />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={id.trim() === ""}>
            {t("person.add")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
