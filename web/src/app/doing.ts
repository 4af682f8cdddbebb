// Does what is declared in task-acts.ts: asks the server, says what was done, offers to take it back where that is
// possible, and reads again what has changed. What is refused is thrown.
import { ANYONE } from "@/ui";
import { useQueryClient } from "@tanstack/react-query";

import { approveTask, confirmChecks, editTask, mayMove, moveTask, rejectTask, steerTask } from "@/api/actions";
import type { Task, TaskStatus } from "@/api/model";
import { agents, task as taskQuery } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { newTask } from "@/app/overlays";
import { navigate } from "@/app/routing";
import { actNamed, type ActName, type Given, type Subject } from "@/app/task-acts";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

interface Done {
  task?: Task;
  said?: string;
  undo?: () => Promise<unknown>;
}

export function useDoing(): (name: ActName, task: Subject, given?: Given) => Promise<void> {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const open = useOpenTask();
  const nameOf = (id: string | null) =>
    id === null
      ? t("app.nobody")
      : id === ANYONE
        ? t("app.anyone")
        : (client.getQueryData(agents.queryKey)?.find((each) => each.agent_id === id)?.name ?? id);

  async function moved(task: Subject, to: TaskStatus, reason: string | undefined): Promise<Done> {
    const { task: now } = await moveTask(task.task_id, to, reason || undefined, task.version);
    const back = await mayMove(client, task.task_id, task.status);
    return {
      task: now,
      said: t("acted.moved", { status: t(`status.${now.status}`), title: now.title }),
      ...(back ? { undo: () => moveTask(task.task_id, task.status, task.blocked_reason ?? undefined) } : {}),
    };
  }

  async function edited(task: Subject, { assignee, priority }: Given): Promise<Done> {
    const assigns = assignee !== undefined;
    const edit = assigns ? { assignee_id: assignee } : { priority: priority ?? task.priority };
    const before = assigns ? { assignee_id: task.assignee_id } : { priority: task.priority };
    const { task: now } = await editTask(task.task_id, edit, task.version);
    return {
      task: now,
      said: assigns
        ? t("acted.assigned", { who: nameOf(assignee), title: now.title })
        : t("acted.priority", { priority: t(`priority.${now.priority}`), title: now.title }),
      undo: () => editTask(task.task_id, before, now.version),
    };
  }

  async function act(name: ActName, task: Subject, given: Given): Promise<Done> {
    const { move } = actNamed(name);
    const judged = t("acted.judged", { title: task.title });
    if (move !== undefined) return moved(task, move.to, given.words);
    switch (name) {
      case "approve":
        return { ...(await approveTask(task.task_id, task.version)), said: judged };
      case "reject":
        return { ...(await rejectTask(task.task_id, given.words ?? "")), said: judged };
      case "accept":
        return { ...(await confirmChecks(task.task_id, true)), said: judged };
      case "assign":
      case "priority":
        return edited(task, given);
      case "steer": {
        const answer = await steerTask(task.task_id, given.words ?? "");
        return { ...answer, said: answer.warnings?.[0] ?? t("acted.steered", { to: nameOf(answer.delivered_to) }) };
      }
      case "copyId":
        await navigator.clipboard.writeText(task.task_id);
        return { said: t("acted.copied", { title: task.title }) };
      case "diff":
        open(task.task_id, "diff");
        return {};
      case "subtask":
        newTask({ projectId: task.project_id, parentId: task.task_id });
        return {};
      default: // review, merge
        await navigate({
          to: "/p/$projectId/review/$taskId",
          params: { projectId: task.project_id, taskId: task.task_id },
        });
        return {};
    }
  }

  async function readAgain({ task_id, project_id }: Subject): Promise<void> {
    await client.invalidateQueries({ queryKey: ["task", task_id] });
    await client.invalidateQueries({ queryKey: ["board", project_id] });
  }

  return async (name, task, given = {}) => {
    try {
      const { task: now, said, undo } = await act(name, task, given);
      if (now !== undefined) client.setQueryData(taskQuery(task.task_id).queryKey, now);
      const back =
        undo &&
        (() =>
          void undo()
            .then(() => toast.done(t("acted.undone", { title: task.title })))
            .catch(toast.failed)
            .finally(() => void readAgain(task)));
      if (said !== undefined) toast.done(said, back);
    } finally {
      if (actNamed(name).how !== "go" && name !== "copyId") await readAgain(task);
    }
  };
}
