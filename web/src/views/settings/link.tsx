// A link that signs a browser in once: made when one asks for it, shown to be copied.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { send } from "@/api/client";
import { Button, Copyable, Countdown, Dialog, Failed } from "@/ui";

interface Made {
  path: string;
  expires_at: string;
}

/** `person` null: for oneself. */
export function MakeLink({ person }: { person: { person_id: string } | null }) {
  const { t } = useTranslation("settings");
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<unknown>(null);
  async function make() {
    setError(null);
    try {
      const body = person === null ? {} : { person_id: person.person_id };
      setMade(await send<Made>("POST", "/sign-in-links", { body }));
    } catch (refused) {
      setError(refused);
    }
  }
  if (made !== null)
    return (
      <div className="space-y-2">
        <Copyable text={location.origin + made.path} />
        <p className="text-xs text-faint">
          <Countdown until={made.expires_at} />
        </p>
      </div>
    );
  return (
    <>
      <Button onClick={() => void make()}>{t("you.makeLink")}</Button>
      {error !== null && <Failed error={error} />}
    </>
  );
}

interface LinkDialogProps {
  open: boolean;
  close: () => void;
  person: { person_id: string; name: string };
}

export function LinkDialog({ open, close, person }: LinkDialogProps) {
  const { t } = useTranslation("settings");
  return (
    <Dialog open={open} onClose={close} title={t("person.linkTitle", { name: person.name })}>
      <p className="mb-4 text-soft">{t("person.linkHelp")}</p>
      <MakeLink person={person} />
    </Dialog>
  );
}
