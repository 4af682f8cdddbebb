// All tasks of a template at once: a value for each of its parameters, and what will be created.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import type { TaskTemplate } from "@/api/model";
import { show } from "@/app/overlays";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Failed, Form, TextField, useToast, visible } from "@/ui";

/** By parameter. */
type Values = Record<string, string>;

export function FromTemplate({ template }: { template: TaskTemplate }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const begun = Object.fromEntries(template.parameters.map((each) => [each.name, each.default ?? ""]));
  const [values, write, draft] = useDraft<Values>(`template.${template.project_id}.${template.name}`, begun);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  const filled = (text: string) =>
    text.replace(/\{\{\s*([\w-]+)\s*\}\}/g, (whole, name: string) => values[name] || whole);

  async function create() {
    if (busy) return;
    setBusy(true);
    setRefused(null);
    try {
      const answer = await api.post("/projects/{project_id}/templates/{name}/use", {
        path: { project_id: template.project_id, name: template.name },
        body: { values: Object.fromEntries(template.parameters.map(({ name }) => [name, values[name] ?? ""])) },
      });
      await client.invalidateQueries({ queryKey: ["board"] });
      toast.done(t("newTask.filedMany", { count: answer.task_ids.length }));
      draft.done();
      show(null);
    } catch (error) {
      setRefused(error);
      setBusy(false);
    }
  }

  return (
    <Form onSend={() => void create()} className="space-y-4">
      <DraftLine draft={draft} />
      {template.description !== "" && <p className="text-[13px] text-soft">{visible(template.description)}</p>}
      {template.parameters.map((each) => (
        <TextField
          key={each.name}
          label={each.name}
          help={each.description}
          value={values[each.name] ?? ""}
          required={each.default === null}
          maxLength={1000}
          onChange={(value) => write((known) => ({ ...known, [each.name]: value }))}
        />
      ))}
      <ol aria-label={t("newTask.creates")} className="list-inside list-decimal text-[13px] text-soft">
        {template.tasks.map((title) => (
          <li key={title} className="break-words">
            {visible(filled(title))}
          </li>
        ))}
      </ol>
      {refused !== null && <Failed error={refused} />}
      <div className="flex justify-end">
        <Button look="primary" type="submit" disabled={busy}>
          {t("newTask.createMany", { count: template.tasks.length })}
        </Button>
      </div>
    </Form>
  );
}
