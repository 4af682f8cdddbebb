// A text that is edited where it stands: title or description. A conflict shows both.
import { Pencil } from "lucide-react";
import type { KeyboardEvent } from "react";

import type { Task } from "@/api/model";
import { useWrites } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import { Button, Failed, IconButton, Prose } from "@/ui";
import { useEditing, type Editing } from "@/views/task/editing";

type TextField = "title" | "description";

export function EditableText({ task, field }: { task: Task; field: TextField }) {
  const editing = useEditing(task, field);
  return editing.draft === null ? (
    <div className="space-y-2">
      <Read task={task} field={field} onEdit={editing.begin} />
      {editing.unsaved && <Unsaved editing={editing} />}
    </div>
  ) : (
    <Write field={field} editing={editing} draft={editing.draft} />
  );
}

function Read({ task, field, onEdit }: { task: Task; field: TextField; onEdit: () => void }) {
  const { t } = useTranslation("task");
  const label = t(field === "title" ? "editTitle" : "editDescription");
  const pencil = useWrites() && (
    <IconButton label={label} small className="shrink-0" onClick={onEdit}>
      <Pencil size={14} />
    </IconButton>
  );
  if (field === "title")
    return (
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 text-lg leading-snug font-semibold break-words">{task.title}</h2>
        {pencil}
      </div>
    );
  return (
    <div className="flex items-start gap-2">
      {task.description === "" ? (
        <p className="flex-1 text-faint">{t("noDescription")}</p>
      ) : (
        <Prose text={task.description} className="min-w-0 flex-1" />
      )}
      {pencil}
    </div>
  );
}

function Write({ field, editing, draft }: { field: TextField; editing: Editing; draft: string }) {
  const { t } = useTranslation("task");
  const { conflict } = editing;
  const box = "w-full rounded-md border border-line-strong bg-panel px-3 py-2";
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return; // it ends a word in Japanese
    if (event.key === "Escape") {
      editing.leave();
    } else if (event.key === "Enter" && (field === "title" || event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      editing.save();
    }
  };
  const given = {
    "aria-label": t(`field.${field}`),
    value: draft,
    "data-escape": "own", // leaves the field, not the sheet
    onKeyDown: pressed,
    ref: (found: HTMLElement | null) => {
      if (found !== null && !found.contains(document.activeElement)) found.focus();
    },
  };
  return (
    <div className="space-y-2">
      {field === "title" ? (
        <input {...given} maxLength={300} className={box} onChange={(event) => editing.change(event.target.value)} />
      ) : (
        <textarea {...given} rows={8} className={box} onChange={(event) => editing.change(event.target.value)} />
      )}
      {editing.refused !== null && <Failed error={editing.refused} />}
      {conflict !== null ? (
        <Both theirs={conflict.theirs} mine={draft} editing={editing} />
      ) : (
        <div className="flex justify-end gap-2">
          <Button small onClick={editing.discard}>
            {t("app.cancel")}
          </Button>
          <Button
            small
            look="primary"
            disabled={editing.busy || (field === "title" && draft.trim() === "")}
            onClick={editing.save}
          >
            {t("app.save")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What was typed and not saved is offered, not shown: the task may have changed meanwhile. */
function Unsaved({ editing }: { editing: Editing }) {
  const { t } = useTranslation("task");
  if (!useWrites()) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 rounded-md bg-sunken px-3 py-1.5 text-sm font-normal text-soft">
      <span className="min-w-0 flex-1">{t("draft.unsaved", { ns: "translation" })}</span>
      <Button small onClick={editing.discard}>
        {t("draft.discard", { ns: "translation" })}
      </Button>
      <Button small onClick={editing.begin}>
        {t("draft.resume", { ns: "translation" })}
      </Button>
    </p>
  );
}

function Both({ theirs, mine, editing }: { theirs: string; mine: string; editing: Editing }) {
  const { t } = useTranslation("task");
  return (
    <div role="alert" className="space-y-3 rounded-lg border border-amber bg-amber-soft p-3">
      <p className="font-medium text-amber">{t("conflict.title")}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Version name={t("conflict.theirs")} text={theirs} />
        <Version name={t("conflict.yours")} text={mine} />
      </div>
      <div className="flex justify-end gap-2">
        <Button small onClick={editing.discard}>
          {t("conflict.take")}
        </Button>
        <Button small look="primary" disabled={editing.busy} onClick={editing.keepMine}>
          {t("conflict.mine")}
        </Button>
      </div>
    </div>
  );
}

function Version({ name, text }: { name: string; text: string }) {
  return (
    <section>
      <h4 className="mb-1 text-xs text-soft">{name}</h4>
      <p className="max-h-48 overflow-auto rounded-md border border-line bg-panel p-2 break-words whitespace-pre-wrap">
        {text}
      </p>
    </section>
  );
}
