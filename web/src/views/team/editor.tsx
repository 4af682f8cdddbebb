// An agent as a form: a new one, or one that is there. Only what differs is sent.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";

import { agentPath, createAgent, setMember } from "@/api/agents";
import type { Agent, Project } from "@/api/model";
import { agentDetails, agents, overview, projects } from "@/api/queries";
import { NotDone, useWidening } from "@/app/widening";
import { Button, Checkbox, Dialog, Failed, Loading, SelectField, TextArea, TextField } from "@/ui";

import { changedFields, editOf, formOf, possibleSuperiors, type Form } from "./tree";

interface EditorProps {
  /** Null: a new one. */
  agent: Agent | null;
  projectId: string;
  onClose: () => void;
  onPasskey: (agent: Agent, passkey: string) => void;
}

export function Editor(props: EditorProps) {
  const { t } = useTranslation("team");
  const { agent, onClose } = props;
  const known = useQuery({ ...agentDetails(agent?.agent_id ?? ""), enabled: agent !== null });
  const all = useQuery(projects).data ?? [];
  const mine = agent === null ? [props.projectId] : known.data?.projects;
  return (
    <Dialog open onClose={onClose} wide title={agent === null ? t("new") : t("editOf", { name: agent.name })}>
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

function Fields({ agent, mine, all, onClose, onPasskey }: EditorProps & { mine: string[]; all: Project[] }) {
  const { t } = useTranslation("team");
  const client = useQueryClient();
  const team = useQuery(agents).data ?? [];
  const [form, setForm] = useState(() => formOf(agent));
  const [chosen, setChosen] = useState<readonly string[]>(mine);
  const [key] = useState(() => crypto.randomUUID());
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const { patch, dialog } = useWidening();
  const set = (name: keyof Form) => (value: string) => setForm((before) => ({ ...before, [name]: value }));

  async function save(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      if (agent === null) await create();
      else await change(agent);
      for (const queryKey of [agents.queryKey, ["members"], ["overview"]]) void client.invalidateQueries({ queryKey });
      onClose();
    } catch (error) {
      if (!(error instanceof NotDone)) setRefused(error);
    } finally {
      setBusy(false);
    }
  }
  async function create() {
    const id = form.id.trim();
    const wanted = { ...(id ? { id } : {}), kind: form.kind, projects: [...chosen], ...editOf(form) };
    const { name, ...unnamed } = wanted;
    const made = await createAgent(name ? wanted : unnamed, key);
    onPasskey(made.agent, made.passkey);
  }
  async function change(before: Agent) {
    const edit = changedFields(before, form);
    if (Object.keys(edit).length > 0) await patch(agentPath(before.agent_id), { ...edit }, before.version);
    for (const each of all.map((project) => project.project_id))
      if (chosen.includes(each) !== mine.includes(each)) await setMember(each, before.agent_id, chosen.includes(each));
  }

  return (
    <>
      {dialog}
      <form onSubmit={(event) => void save(event)} className="space-y-5">
        <div className="grid gap-4 sm:grid-cols-2">
          {agent === null && (
            <>
              <SelectField
                label={t("field.kind")}
                value={form.kind}
                onChange={set("kind")}
                choices={(["ai", "human"] as const).map((each) => ({ value: each, label: t(`kind.${each}`) }))}
              />
              <TextField
                label={t("field.id")}
                help={t("help.id")}
                value={form.id}
                onChange={set("id")}
                pattern="[a-z0-9._\-]{1,64}"
              />
            </>
          )}
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
              ...possibleSuperiors(team, agent?.agent_id ?? null).map((each) => ({
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
                onChange={(on) => setChosen((before) => (on ? [...before, id] : before.filter((each) => each !== id)))}
              />
            ))}
          </div>
        </fieldset>
        {refused !== null && <Failed error={refused} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel", { ns: "translation" })}</Button>
          <Button type="submit" look="primary" disabled={busy}>
            {agent === null ? t("create") : t("app.save", { ns: "translation" })}
          </Button>
        </div>
      </form>
    </>
  );
}

const PROVIDERS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen", "command", "playbook", "script"];

function Program({ form, set }: { form: Form; set: (name: keyof Form) => (value: string) => void }) {
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
