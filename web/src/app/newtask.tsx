// Dialog for a new task: title, assignee, priority. The same in every view (`n`).
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";

import { fileTask, type NewTask } from "@/api/actions";
import { PRIORITIES } from "@/api/filter";
import type { Project } from "@/api/model";
import { board, members, projects } from "@/api/queries";
import { useCurrentProject, useOpenTask } from "@/app/going";
import { show, type NewTaskFor } from "@/app/overlays";
import { Button, Dialog, Empty, Failed, SelectField, TextArea, TextField, useToast } from "@/ui";

const BEGINNINGS = ["todo", "backlog", "in_progress"] as const;

export function NewTaskDialog({ wanted }: { wanted: NewTaskFor }) {
  const { t } = useTranslation();
  const current = useCurrentProject();
  const all = useQuery(projects).data ?? [];
  const project = all.find((each) => each.project_id === wanted.projectId) ?? current;
  return (
    <Dialog open onClose={() => show(null)} title={t("newTask.title")} {...aside(project)}>
      {project === undefined ? <Empty title={t("newTask.noProject")} /> : <Form project={project} wanted={wanted} />}
    </Dialog>
  );
}

function aside(project: Project | undefined): { description?: string } {
  return project === undefined ? {} : { description: project.name };
}

function Form({ project, wanted }: { project: Project; wanted: NewTaskFor }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const open = useOpenTask();
  const team = useQuery(members(project.project_id)).data ?? [];
  const [key] = useState(() => crypto.randomUUID());
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  const [draft, setDraft] = useState<NewTask>({
    title: "",
    description: "",
    assignee_id: null,
    priority: "medium",
    parent_task_id: wanted.parentId ?? null,
    status: wanted.status ?? "todo",
  });
  const change = (part: Partial<NewTask>) => setDraft((known) => ({ ...known, ...part }));

  async function file(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setRefused(null);
    try {
      const { task } = await fileTask(project.project_id, draft, key);
      void client.invalidateQueries({ queryKey: board(project.project_id).queryKey });
      show(null);
      toast.done(t("newTask.filed", { title: task.title }));
      open(task.task_id);
    } catch (error) {
      setRefused(error);
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void file(event)} className="space-y-4">
      <TextField
        label={t("newTask.what")}
        value={draft.title}
        onChange={(title) => change({ title })}
        required
        maxLength={300}
      />
      <TextArea
        label={t("newTask.exactly")}
        help={t("newTask.exactlyHow")}
        value={draft.description}
        rows={6}
        onChange={(description) => change({ description })}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label={t("newTask.who")}
          value={draft.assignee_id ?? ""}
          onChange={(id) => change({ assignee_id: id || null })}
          choices={[
            { value: "", label: t("app.nobody") },
            ...team.map((each) => ({ value: each.agent_id, label: each.name })),
          ]}
        />
        <SelectField
          label={t("newTask.urgent")}
          value={draft.priority}
          onChange={(said) => change({ priority: PRIORITIES.find((each) => each === said) ?? "medium" })}
          choices={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
        />
        <SelectField
          label={t("newTask.begin")}
          value={draft.status}
          onChange={(said) => change({ status: BEGINNINGS.find((each) => each === said) ?? "todo" })}
          choices={BEGINNINGS.map((value) => ({ value, label: t(`status.${value}`) }))}
        />
      </div>
      {refused !== null && <Failed error={refused} />}
      <div className="flex justify-end gap-2">
        <Button onClick={() => show(null)}>{t("app.cancel")}</Button>
        <Button look="primary" type="submit" disabled={busy || draft.title.trim() === ""}>
          {t("newTask.file")}
        </Button>
      </div>
    </form>
  );
}
