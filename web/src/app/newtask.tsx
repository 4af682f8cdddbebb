// The dialog for new tasks (`n`), the same in every view. What is filed where stands in quick/.
import { useQuery } from "@tanstack/react-query";

import { projects } from "@/api/queries";
import { useCurrentProject } from "@/app/going";
import { show, type NewTaskFor } from "@/app/overlays";
import { NewTaskForm } from "@/app/quick/form";
import { useTranslation } from "@/i18n/use-words";
import { Dialog, Empty } from "@/ui";

export function NewTaskDialog({ wanted }: { wanted: NewTaskFor }) {
  const { t } = useTranslation();
  const current = useCurrentProject();
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const begun = wanted.projectId ?? current?.project_id;
  const project = all.find((each) => each.project_id === begun) ?? all[0];
  return (
    <Dialog open onClose={() => show(null)} title={t("newTask.title")}>
      {project === undefined ? (
        <Empty title={t("newTask.noProject")} />
      ) : (
        <NewTaskForm begun={project} projects={all} wanted={wanted} />
      )}
    </Dialog>
  );
}
