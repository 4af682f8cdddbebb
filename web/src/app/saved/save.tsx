// Saves what the address shows under a name: for oneself, or for everybody in the project.
import { useQueryClient } from "@tanstack/react-query";
import { BookmarkPlus } from "lucide-react";
import { useState } from "react";

import { savedViews } from "@/api/queries";
import { editView, saveView } from "@/api/views";
import type { SavedView } from "@/api/model";
import { useWrites } from "@/app/may";
import { useParams } from "@/app/routing";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Dialog, Failed, Form, TextField, useToast, useTrying } from "@/ui";

import { isSame, useSaved, useShown } from "./use-saved";

/** Nothing where nothing is narrowed, or where it is saved already. */
export function SaveView() {
  const { t } = useTranslation();
  const { projectId } = useParams();
  const shown = useShown();
  const saved = useSaved(projectId);
  const [open, setOpen] = useState(false);
  if (projectId === undefined || shown === null || (!open && saved.some((each) => isSame(each, shown)))) return null;
  return (
    <>
      <Button small look="quiet" className="h-8" onClick={() => setOpen(true)}>
        <BookmarkPlus size={14} aria-hidden />
        {t("saved.save")}
      </Button>
      {open && (
        <NameView
          title={t("saved.save")}
          place={`view.${projectId}`}
          begin={{ name: "", everybody: false }}
          onNamed={(named) => saveView(projectId, { ...shown, ...named })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

export function EditView({ saved, onClose }: { saved: SavedView; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <NameView
      title={t("saved.edit")}
      place={`view.${saved.view_id}`}
      begin={{ name: saved.name, everybody: saved.everybody }}
      onNamed={(named) => editView(saved.view_id, named)}
      onClose={onClose}
    />
  );
}

type Named = Pick<SavedView, "name" | "everybody">;

interface NameViewProps {
  title: string;
  /** Of the draft. */
  place: string;
  begin: Named;
  onNamed: (named: Named) => Promise<{ view: SavedView }>;
  onClose: () => void;
}

function NameView({ title, place, begin, onNamed, onClose }: NameViewProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const writes = useWrites();
  const [named, write, draft] = useDraft(place, begin);
  const { busy, refused, attempt } = useTrying(() => {
    draft.done();
    onClose();
  });
  const name = named.name.trim();
  const ready = !busy && name !== "";
  const save = async () => {
    const { view } = await onNamed({ name, everybody: named.everybody });
    await client.invalidateQueries({ queryKey: savedViews(view.project_id).queryKey });
    toast.done(t("saved.done", { name: view.name }));
  };
  return (
    <Dialog open onClose={onClose} title={title}>
      <Form onSend={() => ready && void attempt(save)} className="space-y-4">
        <DraftLine draft={draft} />
        <TextField label={t("saved.name")} value={named.name} onChange={draft.field("name")} maxLength={60} />
        {writes && (
          <Checkbox
            label={t("saved.everybody")}
            checked={named.everybody}
            onChange={(everybody) => write({ ...named, everybody })}
          />
        )}
        {refused !== null && <Failed error={refused} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="primary" disabled={!ready}>
            {t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
