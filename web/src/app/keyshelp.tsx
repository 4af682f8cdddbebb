// `?`: what the keyboard does here, read from what listens to it now.

import { useKnownKeys } from "@/app/keys";
import { show } from "@/app/overlays";
import { useTranslation } from "@/i18n/use-words";
import { Dialog, Kbd } from "@/ui";

/** Keys that are written as a sign. */
const SIGNS: Record<string, string> = { Backspace: "⌫", ArrowDown: "↓", ArrowUp: "↑" };

export function KeysHelp() {
  const { t } = useTranslation();
  const known = useKnownKeys().filter((each) => !each.inside);
  return (
    <Dialog open onClose={() => show(null)} title={t("keys.title")}>
      <dl className="grid grid-cols-1 gap-x-8 gap-y-2 sm:grid-cols-2">
        <Row keys="⌘K / Ctrl K" words={t("keys.palette")} />
        {known.map((each) => (
          <Row key={each.key} keys={SIGNS[each.key] ?? each.key} words={each.words} />
        ))}
      </dl>
    </Dialog>
  );
}

function Row({ keys, words }: { keys: string; words: string }) {
  return (
    <div className="flex items-center justify-between gap-3">
      <dt className="text-soft">{words}</dt>
      <dd>
        <Kbd>{keys}</Kbd>
      </dd>
    </div>
  );
}
