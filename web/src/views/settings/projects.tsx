// The projects: making one, and opening one to change it.
import { useQuery } from "@tanstack/react-query";
import { FolderKanban, Plus } from "lucide-react";
import { useState } from "react";

import type { Project } from "@/api/model";
import { projects } from "@/api/queries";
import { useOwns } from "@/app/may";
import { navigate, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Button, Dialog, Empty, Failed, Loading, Panel, type Tone } from "@/ui";
import { NewProject } from "@/views/settings/new-project";
import { Head } from "@/views/settings/parts";
import { ProjectForm } from "@/views/settings/project";

const TONES: Record<Project["status"], Tone> = { active: "green", paused: "amber", archived: "plain" };

export function ProjectsTab() {
  const { t } = useTranslation("settings");
  const found = useQuery(projects);
  const { q } = useSearch();
  const open = (id: string | null) =>
    void navigate({ to: "/settings", search: { tab: "projects", ...(id === null ? {} : { q: id }) } });
  const owns = useOwns();
  const [making, setMaking] = useState(q === "new");
  const chosen = found.data?.find((each) => each.project_id === q);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <>
      <Head title={t("tabs.projects")} help={t("project.newHelp")}>
        {owns && (
          <Button look="primary" onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t("project.new")}
          </Button>
        )}
      </Head>
      <Panel>
        {found.data.length === 0 && (
          <Empty icon={<FolderKanban size={24} aria-hidden />} title={t("project.none")}>
            {t("project.noneHelp")}
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {found.data.map((each) => (
            <li key={each.project_id}>
              <button
                type="button"
                onClick={() => open(each.project_id)}
                className="flex w-full items-center gap-3 px-4 py-3 text-left hover:bg-sunken"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{each.name}</span>
                  <span className="block truncate font-mono text-xs text-faint">{each.working_directory}</span>
                </span>
                <Badge tone={TONES[each.status]}>{t(`project.status.${each.status}`)}</Badge>
              </button>
            </li>
          ))}
        </ul>
      </Panel>
      <Dialog side open={chosen !== undefined} onClose={() => open(null)} title={chosen?.name ?? ""}>
        {chosen !== undefined && <ProjectForm key={chosen.project_id} project={chosen} />}
      </Dialog>
      {making && <NewProject close={() => setMaking(false)} />}
    </>
  );
}
