// A form that stands where its value stood: what one has written outlives it, until one saves or cancels.
import type { UseMutationResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { DraftLine, type Draft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Failed, Form } from "@/ui";

interface Props<T> {
  draft: Draft<T>;
  saving: UseMutationResult<unknown, Error, void>;
  close: () => void;
  children: ReactNode;
}

export function InPlace<T>({ draft, saving, close, children }: Props<T>) {
  const { t } = useTranslation();
  function done() {
    draft.done();
    close();
  }
  return (
    <Form className="space-y-2" onSend={() => saving.mutate(undefined, { onSuccess: done })}>
      <DraftLine draft={draft} />
      {children}
      {saving.error !== null && <Failed error={saving.error} />}
      <div className="flex justify-end gap-2">
        <Button small type="button" onClick={done}>
          {t("app.cancel")}
        </Button>
        <Button small look="primary" type="submit" disabled={saving.isPending}>
          {t("app.save")}
        </Button>
      </div>
    </Form>
  );
}
