// How a form for new tasks ends: filed, or filed and started; and whether it stays open for another one.

import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Kbd } from "@/ui";

interface FooterProps {
  more: boolean;
  onMore: (more: boolean) => void;
  count: number;
  ready: boolean;
  startable: boolean;
  onStart: () => void;
}

export function Footer({ more, onMore, count, ready, startable, onStart }: FooterProps) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      <span className="mr-auto">
        <Checkbox label={t("newTask.keepOpen")} checked={more} onChange={onMore} />
      </span>
      <Button type="submit" disabled={!ready}>
        {count > 1 ? t("newTask.fileMany", { count }) : t("newTask.file")}
      </Button>
      <Button
        look="primary"
        disabled={!startable}
        title={ready && !startable ? t("newTask.whoFirst") : undefined}
        onClick={onStart}
      >
        {t("newTask.start")}
        <Keys>⇧{MAIN}↵</Keys>
      </Button>
    </div>
  );
}

/** As the keyboard of this machine names it. */
const MAIN = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl ";

function Keys({ children }: { children: React.ReactNode }) {
  return (
    <span aria-hidden className="max-sm:hidden">
      <Kbd>{children}</Kbd>
    </span>
  );
}
