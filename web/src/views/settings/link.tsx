// A link that signs a browser in once: made when one asks for it, shown to be copied.
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";

import { api } from "@/api/client";
import { useTranslation } from "@/i18n/use-words";
import { Button, Copyable, Countdown, Dialog, Failed } from "@/ui";

interface MakeLinkProps {
  /** Null: for oneself. */
  person: { person_id: string } | null;
  /** One has asked for it already. */
  atOnce?: boolean;
}

export function MakeLink({ person, atOnce = false }: MakeLinkProps) {
  const { t } = useTranslation("settings");
  const body = person === null ? {} : { person_id: person.person_id };
  const { mutate, data, error, isIdle } = useMutation({
    mutationFn: () => api.post("/sign-in-links", { body }),
  });
  useEffect(() => {
    if (atOnce) mutate();
  }, [atOnce, mutate]);
  if (data !== undefined)
    return (
      <div className="space-y-2">
        <Copyable text={location.origin + data.path} />
        <p className="text-xs text-faint">
          <Countdown until={data.expires_at} />
        </p>
      </div>
    );
  return (
    <>
      {(!atOnce || error !== null) && (
        <Button disabled={!isIdle && error === null} onClick={() => mutate()}>
          {t("you.makeLink")}
        </Button>
      )}
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
      <MakeLink person={person} atOnce />
    </Dialog>
  );
}
