// The dialog for new tasks (`n`), the same in every view. What is filed where stands in quick/.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { projects, templates } from "@/api/queries";
import { useCurrentProject } from "@/app/going";
import { show, type NewTaskFor } from "@/app/overlays";
import { NewTaskForm } from "@/app/quick/form";
import { FromTemplate } from "@/app/quick/from-template";
import { useTranslation } from "@/i18n/use-words";
import { Dialog, Empty, SelectField } from "@/ui";

export function NewTaskDialog({ wanted }: { wanted: NewTaskFor }) {
  const { t } = useTranslation();
  const current = useCurrentProject();
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const begun = wanted.projectId ?? current?.project_id;
  const project = all.find((each) => each.project_id === begun) ?? all[0];
  const [name, choose] = useState("");
  const has = project !== undefined && wanted.parentId === undefined;
  const known = useQuery({ ...templates(project?.project_id ?? ""), enabled: has }).data ?? [];
  const template = known.find((each) => each.name === name);
  return (
    <Dialog open onClose={() => show(null)} title={t("newTask.title")}>
      {known.length > 0 && (
        <SelectField
          label={t("newTask.template")}
          value={name}
          onChange={choose}
          choices={[
            { value: "", label: t("newTask.noTemplate") },
            ...known.map((each) => ({ value: each.name, label: each.name })),
          ]}
        />
      )}
      {project === undefined ? (
        <Empty title={t("newTask.noProject")} />
      ) : template === undefined ? (
        <NewTaskForm begun={project} projects={all} wanted={wanted} />
      ) : (
        <FromTemplate key={template.name} template={template} />
      )}
    </Dialog>
  );
}
