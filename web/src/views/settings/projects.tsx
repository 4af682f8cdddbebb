// The projects: making one, and opening one to change it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch, useNavigate } from "@tanstack/react-router";
import { FolderKanban, Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { send } from "@/api/client";
import type { Project } from "@/api/model";
import { projects } from "@/api/queries";
import { useOwns } from "@/app/may";
import { Badge, Button, Dialog, Empty, Failed, Loading, Panel, TextArea, TextField, useToast, type Tone } from "@/ui";
import { Head } from "@/views/settings/parts";
import { ProjectForm } from "@/views/settings/project";

const TONES: Record<Project["status"], Tone> = { active: "green", paused: "amber", archived: "plain" };

export function ProjectsTab() {
  const { t } = useTranslation("settings");
  const found = useQuery(projects);
  const { q } = useSearch({ strict: false });
  const navigate = useNavigate();
  const open = (id: string | null) =>
    void navigate({ to: "/settings", search: { tab: "projects", ...(id === null ? {} : { q: id }) } });
  const owns = useOwns();
  const [making, setMaking] = useState(false);
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
      <NewProject open={making} close={() => setMaking(false)} made={open} />
    </>
  );
}

interface NewProps {
  open: boolean;
  close: () => void;
  made: (id: string) => void;
}

function NewProject({ open, close, made }: NewProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState("");
  const [directory, setDirectory] = useState("");
  const [description, setDescription] = useState("");
  const [id, setId] = useState("");
  const [error, setError] = useState<unknown>(null);
  async function create() {
    setError(null);
    try {
      const body = { name, working_directory: directory, description, ...(id ? { id } : {}) };
      const answer = await send<{ project_id: string }>("POST", "/projects", { body });
      await client.invalidateQueries({ queryKey: ["projects"] });
      toast.done(t("project.created", { name }));
      close();
      made(answer.project_id);
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open={open} onClose={close} title={t("project.new")}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField label={t("project.name")} value={name} onChange={setName} required />
        <TextField
          label={t("project.directory")}
          help={t("project.directoryHelp")}
          value={directory}
          onChange={setDirectory}
          required
        />
        <TextField label={t("project.id")} help={t("project.idHelp")} value={id} onChange={setId} />
        <TextArea label={t("project.description")} value={description} onChange={setDescription} />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={name.trim() === "" || directory.trim() === ""}>
            {t("project.create")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
