// Making an agent: its name and its program; the rest has defaults. What the server refuses is shown in its words, and
// nothing that was typed is lost.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { createAgent } from "@/api/agents";
import type { Agent } from "@/api/model";
import { agents, members, projects, serverStatus } from "@/api/queries";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Dialog, Failed, Form, More, SelectField, TextField, idOf, useToast } from "@/ui";
import { EMPTY, UNSAID, bodyOf, wrongOptions } from "@/views/settings/agent-fields";
import { AgentBasics, AgentRest } from "@/views/settings/agent-form";
import { changed } from "@/views/settings/editing";
import { Once } from "@/views/settings/parts";
import { onlyProgram } from "@/views/settings/programs";

interface NewAgentProps {
  close: () => void;
  /** It belongs to this one, unless somebody says otherwise. */
  projectId?: string | undefined;
}

/** Programs that do what a plan says, which is one of their options. */
const NEED_PLAN = ["playbook", "script"];

const FORM = { draft: EMPTY, joins: null as string[] | null, kind: "ai" as Agent["kind"] };

export function NewAgent({ close, projectId }: NewAgentProps) {
  const { t } = useTranslation("settings");
  const [passkey, setPasskey] = useState<string | null>(null);
  if (passkey !== null) return <Once title={t("agent.passkey")} secret={passkey} onClose={close} />;
  return (
    <Dialog side open onClose={close} title={t("agent.new")}>
      <Fields close={close} projectId={projectId} onPasskey={setPasskey} />
    </Dialog>
  );
}

function Fields({ close, projectId, onPasskey }: NewAgentProps & { onPasskey: (passkey: string) => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const places = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const team = useQuery(agents).data ?? [];
  const machines = useQuery(serverStatus).data?.coordinators ?? [];
  const [form, write, kept] = useDraft(["new-agent", projectId].filter(Boolean).join("."), FORM);
  const [error, setError] = useState<unknown>(null);
  const [key] = useState(() => crypto.randomUUID());
  const set = (name: string) => (value: string) =>
    write((known) => ({ ...known, draft: { ...known.draft, [name]: value } }));
  const only = places.length === 1 ? places[0]?.project_id : undefined;
  const joins = form.joins ?? [projectId ?? only].filter((each) => each !== undefined);
  const manager = useManager(joins[0]);
  const said = form.draft;
  const id =
    said["id"]?.trim() ||
    idOf(
      said["name"] ?? "",
      team.map((each) => each.agent_id),
    );
  const program = form.kind === "human" ? "" : (said["provider"] ?? UNSAID);
  const draft = {
    ...said,
    provider: program === UNSAID ? (onlyProgram(machines) ?? UNSAID) : program,
    reports_to: said["reports_to"] === UNSAID ? (said["role"] === "worker" ? manager : "") : (said["reports_to"] ?? ""),
  };
  const ready = (said["name"] ?? "").trim() !== "" && draft.provider !== UNSAID && !wrongOptions(said);

  async function create() {
    setError(null);
    try {
      const given = bodyOf(changed({ ...EMPTY, provider: "", reports_to: "" }, draft), draft);
      const body = {
        ...given,
        id: id || undefined,
        kind: form.kind,
        name: (said["name"] ?? "").trim(),
        role: given.role ?? "worker",
        projects: joins,
      };
      const made = await createAgent(body, key);
      for (const queryKey of [agents.queryKey, ["members"], ["overview"]]) void client.invalidateQueries({ queryKey });
      toast.done(t("agent.created", { name: made.agent.name }));
      kept.done();
      if (draft.provider === "" && form.kind === "ai" && made.passkey !== undefined) onPasskey(made.passkey);
      else close(); // its Coordinator signs it in: nobody needs the passkey
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Form className="space-y-5" onSend={() => void create()}>
      <DraftLine draft={kept} />
      <div>
        <TextField label={t("agent.name")} value={said["name"] ?? ""} onChange={set("name")} maxLength={200} required />
        {id !== "" && <p className="mt-1 text-xs text-faint">{t("agent.willBe", { id })}</p>}
      </div>
      <AgentBasics draft={draft} set={set} self={null} program={form.kind === "ai"} />
      {places.length > 1 && (
        <fieldset>
          <legend className="mb-1 text-[13px] font-semibold">{t("agent.projects")}</legend>
          <div className="flex flex-wrap gap-x-5">
            {places.map((each) => (
              <Checkbox
                key={each.project_id}
                label={each.name}
                checked={joins.includes(each.project_id)}
                onChange={(joined) =>
                  kept.field("joins")(
                    joined ? [...joins, each.project_id] : joins.filter((one) => one !== each.project_id),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
      )}
      <More open={NEED_PLAN.includes(draft.provider)}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t("agent.id")}
            help={t("agent.idHelp")}
            value={said["id"] ?? ""}
            onChange={set("id")}
            placeholder={id}
            autoCapitalize="none"
          />
          <SelectField
            label={t("agent.kind")}
            value={form.kind}
            onChange={kept.field("kind")}
            choices={(["ai", "human"] as const).map((each) => ({ value: each, label: t(`agent.kinds.${each}`) }))}
          />
        </div>
        <AgentRest draft={draft} set={set} />
      </More>
      {error !== null && <Failed error={error} />}
      <div className="flex justify-end">
        <Button look="primary" type="submit" disabled={!ready}>
          {t("agent.create")}
        </Button>
      </div>
    </Form>
  );
}

/** The superior of a new worker, where nobody says it: the only manager of its project. */
function useManager(projectId: string | undefined): string {
  const there = useQuery({ ...members(projectId ?? ""), enabled: projectId !== undefined }).data ?? [];
  const managers = there.filter((each) => each.role === "manager" && each.status === "active");
  return managers.length === 1 ? (managers[0]?.agent_id ?? "") : "";
}
