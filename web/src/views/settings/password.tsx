// Setting a password: one's own (with the present one, if there is one), or as an owner anybody's.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";

import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Failed, Form, TextField, useToast } from "@/ui";

interface PasswordFormProps {
  personId: string;
  /** One's own: the present one is asked for, too. */
  own: boolean;
  done: () => void;
}

export function PasswordForm({ personId, own, done }: PasswordFormProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [old, setOld] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  async function set() {
    setError(null);
    try {
      const body = { password, old_password: own && old ? old : undefined };
      const path = { person_id: personId };
      const { signed_out: count } = await api.put("/people/{person_id}/password", { path, body });
      await client.invalidateQueries({ queryKey: ["people"] });
      toast.done(t("person.passwordSet", { count }));
      setOld("");
      setPassword("");
      done();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Form className="space-y-4" onSend={() => void set()}>
      {own && (
        <TextField
          label={t("person.oldPassword")}
          help={t("person.oldHelp")}
          type="password"
          autoComplete="current-password"
          value={old}
          onChange={setOld}
        />
      )}
      <TextField
        label={t("person.newPassword")}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
      />
      {error !== null && <Failed error={error} />}
      <Button look="primary" type="submit" disabled={password === ""}>
        {t("you.setPassword")}
      </Button>
    </Form>
  );
}

interface PasswordDialogProps {
  open: boolean;
  close: () => void;
  personId: string;
  name: string;
}

export function PasswordDialog({ open, close, personId, name }: PasswordDialogProps) {
  const { t } = useTranslation("settings");
  return (
    <Dialog open={open} onClose={close} title={t("person.passwordTitle", { name })}>
      <PasswordForm personId={personId} own={false} done={close} />
    </Dialog>
  );
}
