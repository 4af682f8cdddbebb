// The rest of a form: what few people fill in stands behind one line.
import { useState, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";

interface MoreProps {
  /** Something of it counts: it opens. It never closes by itself, while one is in it. */
  open?: boolean;
  children: ReactNode;
}

export function More({ open = false, children }: MoreProps) {
  const { t } = useTranslation();
  const [shown, show] = useState(open);
  const [before, remember] = useState(open);
  if (before !== open) {
    remember(open);
    if (open) show(true);
  }
  return (
    <details open={shown} onToggle={(event) => show(event.currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded text-[13px] text-soft hover:text-ink">
        {t("app.further")}
      </summary>
      <div className="mt-3 space-y-4">{children}</div>
    </details>
  );
}
