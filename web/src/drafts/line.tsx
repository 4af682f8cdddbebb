// Says that what one sees was written earlier, and lets one begin again.

import type { Draft } from "@/drafts/use-draft";
import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui/button";

export function DraftLine<T>({ draft }: { draft: Draft<T> }) {
  const { t } = useTranslation();
  if (!draft.restored) return null;
  return (
    <p role="status" className="flex items-center justify-between gap-3 rounded-md bg-sunken px-3 py-1.5 text-soft">
      {t("draft.restored")}
      <Button small onClick={draft.discard}>
        {t("draft.discard")}
      </Button>
    </p>
  );
}
