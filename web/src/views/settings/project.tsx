// One project: its name and rules, who belongs to it, and whether it runs.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Archive, Pause, Play } from "lucide-react";
import { useState } from "react";

import { setMember } from "@/api/agents";
import type { Project } from "@/api/model";
import { moveProject } from "@/api/projects";
import { agents, members } from "@/api/queries";
import { useMay, useOwns } from "@/app/may";
import { useWidening } from "@/app/widening";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Button, Checkbox, Confirm, ReadOnly, SelectField, TextArea, TextField, useToast } from "@/ui";
import { Outcome, SaveRow } from "@/views/settings/parts";
import { CHOICES, LIMITS, LINES, RULES, choiceKey, fieldsOf, lookAt, store } from "@/views/settings/project-fields";
import { useEditing, type Editing } from "@/views/settings/use-editing";

export function ProjectForm({ project }: { project: Project }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const id = project.project_id;
  const { patch, dialog } = useWidening();
  const editing = useEditing(`project.${id}`, fieldsOf(project), () => lookAt(id), store(id, patch));
  const { draft, set } = editing;
  const may = useMay();
  const owns = may("own");
  async function save() {
    if (!(await editing.save())) return;
    await client.invalidateQueries({ queryKey: ["projects"] });
    toast.done(t("saved"));
  }
  return (
    <div className="space-y-6">
      <ReadOnly on={!owns}>
        <div className="space-y-4">
          <TextField label={t("project.name")} value={draft["name"] ?? ""} onChange={set("name")} />
          <TextField
            label={t("project.directory")}
            help={t("project.directoryHelp")}
            value={draft["working_directory"] ?? ""}
            onChange={set("working_directory")}
          />
          <TextArea
            label={t("project.description")}
            value={draft["description"] ?? ""}
            onChange={set("description")}
            rows={3}
          />
        </div>
        <Rules editing={editing} />
        <Members projectId={id} />
      </ReadOnly>
      <Outcome editing={editing} />
      {dialog}
      {may("write") && (
        <SaveRow editing={editing} onSave={owns ? () => void save() : null}>
          <Life project={project} />
        </SaveRow>
      )}
    </div>
  );
}

function Rules({ editing: { draft, set } }: { editing: Editing }) {
  const { t } = useTranslation("settings");
  return (
    <>
      <fieldset className="space-y-4">
        <legend className="mb-2 text-[13px] font-semibold">{t("project.rules")}</legend>
        {RULES.map((name) => (
          <SelectField
            key={name}
            label={t(`setting.${name}`)}
            help={t(`settingHelp.${name}`)}
            value={draft[name] ?? ""}
            onChange={set(name)}
            choices={CHOICES[name].map((value) => ({ value, label: t(choiceKey(name, value)) }))}
          />
        ))}
        {LINES.map((name) => (
          <TextArea
            key={name}
            label={t(`setting.${name}`)}
            help={t(`settingHelp.${name}`)}
            value={draft[name] ?? ""}
            onChange={set(name)}
            rows={3}
            spellCheck={false}
            className="font-mono"
          />
        ))}
      </fieldset>
      <fieldset>
        <legend className="mb-2 text-[13px] font-semibold">{t("project.limits")}</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          {LIMITS.map((name) => (
            <TextField
              key={name}
              label={t(`setting.${name}`)}
              help={t(`settingHelp.${name}`)}
              inputMode="decimal"
              value={draft[name] ?? ""}
              onChange={set(name)}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}

function Members({ projectId }: { projectId: string }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const all = useQuery(agents).data ?? [];
  const here = new Set(useQuery(members(projectId)).data?.map((each) => each.agent_id));
  async function change(agentId: string, member: boolean) {
    try {
      await setMember(projectId, agentId, member);
      await client.invalidateQueries({ queryKey: ["members", projectId] });
    } catch (error) {
      toast.failed(error);
    }
  }
  return (
    <fieldset>
      <legend className="text-[13px] font-semibold">{t("project.members")}</legend>
      <p className="mb-2 text-xs text-faint">{t("project.membersHelp")}</p>
      <ul className="grid gap-1 sm:grid-cols-2">
        {all
          .filter((each) => each.status === "active" || here.has(each.agent_id))
          .map((each) => (
            <li key={each.agent_id}>
              <Checkbox
                checked={here.has(each.agent_id)}
                onChange={(member) => void change(each.agent_id, member)}
                label={
                  <span className="flex items-center gap-2">
                    <Avatar id={each.agent_id} name={each.name} size={20} />
                    {each.name}
                  </span>
                }
              />
            </li>
          ))}
      </ul>
    </fieldset>
  );
}

function Life({ project }: { project: Project }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [asking, setAsking] = useState(false);
  async function act(verb: "pause" | "resume" | "archive", words: string) {
    await moveProject(project.project_id, verb);
    toast.done(words);
    await client.invalidateQueries({ queryKey: ["projects"] });
  }
  return (
    <>
      {project.status === "active" ? (
        <Button onClick={() => void act("pause", t("project.paused")).catch(toast.failed)}>
          <Pause size={15} aria-hidden />
          {t("project.pause")}
        </Button>
      ) : (
        <Button onClick={() => void act("resume", t("project.resumed")).catch(toast.failed)}>
          <Play size={15} aria-hidden />
          {t("project.resume")}
        </Button>
      )}
      {useOwns() && project.status !== "archived" && (
        <Button look="danger" onClick={() => setAsking(true)}>
          <Archive size={15} aria-hidden />
          {t("project.archive")}
        </Button>
      )}
      <Confirm
        open={asking}
        title={t("project.archiveTitle", { name: project.name })}
        action={t("project.archive")}
        onClose={() => setAsking(false)}
        onConfirm={() => act("archive", t("project.archived"))}
      >
        {t("project.archiveText")}
      </Confirm>
    </>
  );
}
