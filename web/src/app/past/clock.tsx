// The clock in the bar of Board, Graph and Timeline: which instant the page shows, and the way back to now.
import { History } from "lucide-react";

import { useTranslation } from "@/i18n/use-words";
import { Button, IconButton, useNow } from "@/ui";
import { momentWords } from "./moment";
import { usePast } from "./past";

export function PastClock() {
  const { t } = useTranslation();
  const { at, wrong, go } = usePast();
  if (at === null && !wrong)
    return (
      <IconButton label={t("past.look")} onClick={() => go(Date.now())}>
        <History size={16} />
      </IconButton>
    );
  return <Shown className="hidden sm:flex" />;
}

/** The instant that is shown, and the way back. On a phone it stands in the strip: the bar has no room for it. */
export function Shown({ className }: { className: string }) {
  const { t, i18n } = useTranslation();
  const { at, go } = usePast();
  const now = useNow();
  return (
    <span
      className={`min-w-0 items-center gap-2 rounded-md border border-amber bg-amber-soft px-2 py-0.5 text-[13px] text-amber ${className}`}
    >
      <History size={14} aria-hidden className="shrink-0" />
      {at !== null && (
        <time dateTime={new Date(at).toISOString()} className="truncate font-medium tabular-nums">
          {momentWords(at, now, i18n.language, t)}
        </time>
      )}
      <Button small look="quiet" className="text-ink!" onClick={() => go(null)}>
        {t("past.toNow")}
      </Button>
    </span>
  );
}
