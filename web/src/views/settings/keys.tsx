// API keys of agents that run already and register themselves: made (shown once) and revoked, project by project.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import { DraftLine, useDraft } from "@/drafts";
import type { ApiKey } from "@/api/model";
import { apiKeys, projects } from "@/api/queries";
import { inProject } from "@/api/routes";
import { useOwns } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import {
  Ago,
  Badge,
  Button,
  Checkbox,
  Confirm,
  Dialog,
  Empty,
  Failed,
  Form,
  Loading,
  Panel,
  SelectField,
  TextField,
  useToast,
} from "@/ui";
import { listed } from "@/views/settings/editing";
import { Head, Once } from "@/views/settings/parts";

export function KeysTab() {
  const { t } = useTranslation("settings");
  const all = useQuery(projects).data ?? [];
  const owns = useOwns();
  const [wanted, setWanted] = useState<string | null>(null);
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const projectId = wanted ?? (all.find((each) => each.status !== "archived") ?? all[0])?.project_id;
  return (
    <>
      <Head title={t("tabs.keys")} help={t("key.noneHelp")}>
        {owns && (
          <Button look="primary" disabled={projectId === undefined} onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t("key.new")}
          </Button>
        )}
      </Head>
      <div className="max-w-xs">
        <SelectField
          label={t("key.project")}
          value={projectId ?? ""}
          onChange={setWanted}
          choices={all.map((each) => ({ value: each.project_id, label: each.name }))}
        />
      </div>
      {projectId !== undefined && <Keys projectId={projectId} />}
      {projectId !== undefined && making && (
        <NewKey close={() => setMaking(false)} projectId={projectId} made={setSecret} />
      )}
      <Once title={t("key.made")} secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Keys({ projectId }: { projectId: string }) {
  const { t } = useTranslation("settings");
  const found = useQuery(apiKeys(projectId));
  return (
    <Panel>
      {found.isPending && <Loading rows={2} />}
      {found.isError && <Failed error={found.error} />}
      {found.data?.length === 0 && <Empty icon={<KeyRound size={24} aria-hidden />} title={t("key.none")} />}
      <ul className="divide-y divide-line">
        {found.data?.map((each) => (
          <Key key={each.key_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function Key({ each }: { each: ApiKey }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const owns = useOwns();
  const [asking, setAsking] = useState(false);
  async function revoke() {
    await api.post("/keys/{key_id}/revoke", { path: { key_id: each.key_id } });
    toast.done(t("key.revoked"));
    void client.invalidateQueries({ queryKey: ["keys"] });
  }
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className={`truncate font-medium ${each.revoked_at === null ? "" : "text-faint line-through"}`}>
          {each.name}
        </p>
        <p className="text-[13px] text-soft">
          {[each.agent_id, each.types.join(", ") || t("key.any"), t("key.madeBy", { name: each.created_by })]
            .filter(Boolean)
            .join(" · ")}{" "}
          · <Ago at={each.created_at} />
        </p>
      </div>
      {each.orchestrator && <Badge tone="violet">{t("key.orchestrator")}</Badge>}
      {each.revoked_at !== null && <Badge>{t("key.revoked")}</Badge>}
      {each.revoked_at === null && owns && (
        <Button small look="danger" onClick={() => setAsking(true)}>
          {t("key.revoke")}
        </Button>
      )}
      <Confirm
        open={asking}
        title={t("key.revokeTitle", { name: each.name })}
        action={t("key.revoke")}
        onClose={() => setAsking(false)}
        onConfirm={revoke}
      >
        {t("key.revokeText")}
      </Confirm>
    </li>
  );
}

const EMPTY = { name: "", agent: "", types: "", orchestrator: false };

interface NewKeyProps {
  close: () => void;
  projectId: string;
  made: (secret: string) => void;
}

function NewKey({ close, projectId, made }: NewKeyProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const [{ name, agent, types, orchestrator }, , draft] = useDraft(`new-key.${projectId}`, EMPTY);
  const [error, setError] = useState<unknown>(null);
  async function make() {
    setError(null);
    try {
      const body = { name: name || null, agent_id: agent.trim() || null, types: listed(types), orchestrator };
      const { token } = await api.post("/projects/{project_id}/keys", { ...inProject(projectId), body });
      await client.invalidateQueries({ queryKey: ["keys"] });
      draft.done();
      close();
      made(token);
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={t("key.new")}>
      <Form className="space-y-4" onSend={() => void make()}>
        <DraftLine draft={draft} />
        <TextField label={t("key.name")} value={name} onChange={draft.field("name")} maxLength={200} />
        <TextField label={t("key.agent")} help={t("key.agentHelp")} value={agent} onChange={draft.field("agent")} />
        <TextField label={t("key.types")} help={t("key.typesHelp")} value={types} onChange={draft.field("types")} />
        <Checkbox label={t("key.orchestrator")} checked={orchestrator} onChange={draft.field("orchestrator")} />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit">
            {t("key.make")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
