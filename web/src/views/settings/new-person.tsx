// Adding somebody. They come in with a link, a password that they are given, or by an identity provider.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { send } from "@/api/client";

import { Button, Dialog, Failed, SelectField, TextField, useToast } from "@/ui";

const LOGINS = ["member", "viewer", "owner"] as const;

export function NewPerson({ open, close }: { open: boolean; close: () => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [login, setLogin] = useState<string>("member");
  const [error, setError] = useState<unknown>(null);
  async function add() {
    setError(null);
    try {
      const body = { person_id: id, login, ...(name && { name }), ...(email && { email }) };
      await send("POST", "/people", { body });
      await client.invalidateQueries({ queryKey: ["people"] });
      toast.done(t("person.added", { name: name || id }));
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open={open} onClose={close} title={t("person.new")}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField label={t("person.id")} help={t("agent.idHelp")} value={id} onChange={setId} required />
        <TextField label={t("person.name")} value={name} onChange={setName} />
        <TextField
          label={t("person.email")}
          help={t("person.emailHelp")}
          type="email"
          value={email}
          onChange={setEmail}
        />
        <SelectField
          label={t("person.login")}
          value={login}
          onChange={setLogin}
          choices={LOGINS.map((value) => ({ value, label: t(`person.logins.${value}`) }))}
        />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={id.trim() === ""}>
            {t("person.add")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
