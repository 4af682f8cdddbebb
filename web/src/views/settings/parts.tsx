// What the forms of the settings share: their end with what was refused, and a secret that is shown once.
import { Save, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import { DraftLine } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Copyable, Dialog, Failed } from "@/ui";
import type { Editing } from "@/views/settings/use-editing";

/** What was refused, in the server's words; after a conflict, what others have set. */
export function Outcome({ editing }: { editing: Editing }) {
  const { t } = useTranslation("settings");
  if (editing.error === null) return <DraftLine draft={editing.kept} />;
  if (editing.theirs === null) return <Failed error={editing.error} />;
  return (
    <div role="alert" className="flex gap-2 rounded-lg border border-line bg-amber-soft px-3 py-2.5">
      <TriangleAlert size={16} className="mt-0.5 shrink-0 text-amber" aria-hidden />
      <div className="min-w-0">
        <p>{t("theirs")}</p>
        <ul className="text-[13px] text-soft">
          {Object.entries(editing.theirs).map(([name, value]) => (
            <li key={name} className="break-words">
              {name} – {t("theirValue", { value: value || t("nothing") })}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

interface SaveRowProps {
  editing: Editing;
  /** Null: who looks may not change it, but do something else with it. */
  onSave: (() => void) | null;
  children?: ReactNode;
}

export function SaveRow({ editing, onSave, children }: SaveRowProps) {
  const { t } = useTranslation("settings");
  return (
    <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap items-center gap-2 border-t border-line bg-panel px-5 py-3">
      {children}
      {onSave !== null && (
        <Button look="primary" className="ml-auto" disabled={!editing.dirty || editing.saving} onClick={onSave}>
          <Save size={15} aria-hidden />
          {t("app.save")}
        </Button>
      )}
    </div>
  );
}

/** A secret: it can be copied now and never read again. */
export function Once({ title, secret, onClose }: { title: string; secret: string | null; onClose: () => void }) {
  const { t } = useTranslation("settings");
  return (
    <Dialog open={secret !== null} onClose={onClose} title={title} description={t("once")}>
      <p className="mb-3 text-soft">{t("onceHelp")}</p>
      <Copyable text={secret ?? ""} />
      <div className="mt-5 flex justify-end">
        <Button look="primary" onClick={onClose}>
          {t("done")}
        </Button>
      </div>
    </Dialog>
  );
}

export function Head({ title, help, children }: { title: string; help?: string; children?: ReactNode }) {
  return (
    <header className="flex flex-wrap items-center justify-between gap-2">
      <div>
        <h2 className="text-[15px] font-semibold">{title}</h2>
        {help !== undefined && <p className="text-[13px] text-soft">{help}</p>}
      </div>
      {children}
    </header>
  );
}
