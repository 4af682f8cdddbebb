// The acceptance checks of a task, and what they have left. Owners delete a file of it here: one that shows a secret, say.
import { useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { deleteArtifact } from "@/api/actions";
import type { Task } from "@/api/model";
import { useOwns } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import { Checks, Confirm, IconButton, bytes, hasChecks, runTime, useToast, visible, type LeftFile } from "@/ui";
import { Section } from "@/views/task/section";

export function Acceptance({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("task");
  const owns = useOwns();
  if (!hasChecks(task)) return null;
  return (
    <Section title={t("acceptance")} aside={t(`checks.${task.checks}`, { defaultValue: task.checks })}>
      <Checks
        task={task}
        words={{
          outcome: ({ outcome, runs, seconds }) =>
            t(`checked.${outcome}`, { runs, time: runTime(seconds * 1000, i18n.language) }),
          output: t("checked.output"),
          leftOut: t("checked.leftOut"),
          size: (count) => bytes(count, i18n.language),
        }}
        {...(owns ? { besideFile: (file) => <Delete taskId={task.task_id} file={file} /> } : {})}
      />
    </Section>
  );
}

function Delete({ taskId, file }: { taskId: string; file: LeftFile }) {
  const { t } = useTranslation("task");
  const client = useQueryClient();
  const toast = useToast();
  const [asking, setAsking] = useState(false);
  const name = visible(file.name);
  async function remove() {
    await deleteArtifact(taskId, file.artifact_id);
    toast.done(t("leftFile.deleted"));
    await client.invalidateQueries({ queryKey: ["task", taskId] });
  }
  return (
    <>
      <IconButton
        label={t("leftFile.deleteOf", { name })}
        small
        className="shrink-0 hover:text-red"
        onClick={() => setAsking(true)}
      >
        <Trash2 size={14} aria-hidden />
      </IconButton>
      <Confirm
        open={asking}
        title={t("leftFile.deleteTitle", { name })}
        action={t("leftFile.delete")}
        onClose={() => setAsking(false)}
        onConfirm={remove}
      >
        {t("leftFile.deleteText")}
      </Confirm>
    </>
  );
}
