// Asking before what cannot be taken back.
import type { ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failed } from "@/ui/feedback";
import { Form } from "@/ui/sent";
import { useTrying } from "@/ui/trying";

export interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** What it throws is shown in the dialog, which stays open. */
  onConfirm: () => unknown;
  onClose: () => void;
}

export function ConfirmDialog({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog open onClose={onClose} title={title}>
      <Asked action={action} onConfirm={onConfirm} onClose={onClose}>
        {children}
      </Asked>
    </Dialog>
  );
}

/** A component of its own: what was refused is forgotten when the dialog closes. */
function Asked({
  action,
  onConfirm,
  onClose,
  children,
}: {
  action: string;
  onConfirm: () => unknown;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const { busy, refused, attempt } = useTrying(onClose);
  return (
    <Form onSend={() => void attempt(onConfirm)}>
      <div className="wrap-anywhere text-soft">{children}</div>
      {refused !== null && <Failed error={refused} />}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>{t("app.cancel")}</Button>
        <Button type="submit" look="danger" disabled={busy}>
          {action}
        </Button>
      </div>
    </Form>
  );
}
