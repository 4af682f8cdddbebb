// An agent as a form. Only what differs is sent.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { editAgent, setMember } from "@/api/agents";
import type { Agent, Project } from "@/api/model";
import { agentDetails, agents, overview, projects } from "@/api/queries";
import { NotDone, useWidening } from "@/app/widening";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Dialog, Failed, Form, Loading, SelectField, TextArea, TextField } from "@/ui";

import { changedFields, formOf, possibleSuperiors, type AgentForm } from "./tree";

interface EditorProps {
  agent: Agent;
  onClose: () => void;
}

export function Editor(props: EditorProps) {
  const { t } = useTranslation("team");
  const { agent, onClose } = props;
  const known = useQuery(agentDetails(agent.agent_id));
  const all = useQuery(projects).data ?? [];
  const mine = known.data?.projects;
  return (
    <Dialog open onClose={onClose} wide title={t("editOf", { name: agent.name })}>
      {known.isError ? (
        <Failed error={known.error} retry={() => void known.refetch()} />
      ) : mine === undefined ? (
        <Loading />
      ) : (
        <Fields {...props} mine={mine} all={all.filter((each) => each.status !== "archived")} />
      )}
    </Dialog>
  );
}

function Fields({ agent, mine, all, onClose }: EditorProps & { mine: string[]; all: Project[] }) {
  const { t } = useTranslation("team");
  const client = useQueryClient();
  const team = useQuery(agents).data ?? [];
  const begin = { form: formOf(agent), chosen: mine };
  const [{ form, chosen }, write, draft] = useDraft(`agent-form.${agent.agent_id}`, begin);
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const { patch, dialog } = useWidening();
  const set = (name: keyof AgentForm) => (value: string) =>
    write((before) => ({ ...before, form: { ...before.form, [name]: value } }));

  async function save() {
    setBusy(true);
    try {
      await change();
      for (const queryKey of [agents.queryKey, ["members"], ["overview"]]) void client.invalidateQueries({ queryKey });
      draft.done();
      onClose();
    } catch (error) {
      if (!(error instanceof NotDone)) setRefused(error);
    } finally {
      setBusy(false);
    }
  }
  async function change() {
    const edit = changedFields(agent, form);
    if (Object.keys(edit).length > 0)
      await patch((how) => editAgent(agent.agent_id, { ...edit, ...how }, agent.version));
    for (const each of all.map((project) => project.project_id))
      if (chosen.includes(each) !== mine.includes(each)) await setMember(each, agent.agent_id, chosen.includes(each));
  }

  return (
    <>
      {dialog}
      <Form onSend={() => void save()} className="space-y-5">
        <DraftLine draft={draft} />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label={t("field.name")} value={form.name} onChange={set("name")} maxLength={200} />
          <SelectField
            label={t("field.role")}
            value={form.role}
            onChange={set("role")}
            choices={(["owner", "manager", "worker"] as const).map((each) => ({
              value: each,
              label: t(`role.${each}`, { ns: "translation" }),
            }))}
          />
          <SelectField
            label={t("field.reportsTo")}
            value={form.reportsTo}
            onChange={set("reportsTo")}
            choices={[
              { value: "", label: t("nobody") },
              ...possibleSuperiors(team, agent).map((each) => ({
                value: each.agent_id,
                label: each.name,
              })),
            ]}
          />
          {form.kind === "ai" && <Program form={form} set={set} />}
        </div>
        <TextArea label={t("field.prompt")} help={t("help.prompt")} value={form.prompt} onChange={set("prompt")} />
        <fieldset>
          <legend className="mb-1 text-[13px] font-medium">{t("field.projects")}</legend>
          <div className="flex flex-wrap gap-x-5">
            {all.map(({ project_id: id, name }) => (
              <Checkbox
                key={id}
                label={name}
                checked={chosen.includes(id)}
                onChange={(on) => draft.field("chosen")(on ? [...chosen, id] : chosen.filter((each) => each !== id))}
              />
            ))}
          </div>
        </fieldset>
        {refused !== null && <Failed error={refused} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel", { ns: "translation" })}</Button>
          <Button type="submit" look="primary" disabled={busy}>
            {t("app.save", { ns: "translation" })}
          </Button>
        </div>
      </Form>
    </>
  );
}

const PROVIDERS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen", "command", "playbook", "script"];

function Program({ form, set }: { form: AgentForm; set: (name: keyof AgentForm) => (value: string) => void }) {
  const { t } = useTranslation("team");
  const list = useId();
  const plant = useQuery(overview(null)).data?.plant.coordinators ?? [];
  const offered = [...new Set([...plant.flatMap((each) => each.providers), ...PROVIDERS])].sort();
  return (
    <>
      <TextField
        label={t("field.provider")}
        help={t("help.provider")}
        value={form.provider}
        onChange={set("provider")}
        list={list}
      />
      <datalist id={list}>
        {offered.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <TextField label={t("field.model")} help={t("help.model")} value={form.model} onChange={set("model")} />
      <TextField label={t("field.queue")} help={t("help.queue")} value={form.queue} onChange={set("queue")} />
      <TextField
        label={t("field.capabilities")}
        help={t("help.capabilities")}
        value={form.capabilities}
        onChange={set("capabilities")}
      />
      <TextField
        label={t("field.parallel")}
        help={t("help.parallel")}
        value={form.parallel}
        onChange={set("parallel")}
        type="number"
        min={1}
        max={1000}
        required
      />
    </>
  );
}
