// One agent: changing it, its passkey, and whether it may be started.
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound, Power } from "lucide-react";
import { useState } from "react";

import { activateAgent } from "@/api/actions";
import { deactivateAgent, editAgent, renewPasskey } from "@/api/agents";
import type { Agent } from "@/api/model";

import { useOwns } from "@/app/may";
import { useWidening } from "@/app/widening";
import { useTranslation } from "@/i18n/use-words";
import { Button, Confirm, Failed, ReadOnly, useToast } from "@/ui";
import { editOf, fieldsOf, lookAt, wrongOptions } from "@/views/settings/agent-fields";
import { AgentFields } from "@/views/settings/agent-form";
import { Outcome, SaveRow } from "@/views/settings/parts";
import { useEditing } from "@/views/settings/use-editing";

export function AgentForm({ agent, onPasskey }: { agent: Agent; onPasskey: (passkey: string) => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const { patch, dialog } = useWidening();
  const editing = useEditing(
    `agent.${agent.agent_id}`,
    fieldsOf(agent),
    () => lookAt(agent.agent_id),
    (changes, version, all) =>
      patch((how) => editAgent(agent.agent_id, { ...editOf(changes, all), ...how }, version)).then((answer) =>
        fieldsOf(answer.agent),
      ),
  );
  const owns = useOwns();
  const wrong = wrongOptions(editing.draft);
  async function save() {
    if (wrong || !(await editing.save())) return;
    await client.invalidateQueries({ queryKey: ["agents"] });
    toast.done(t("saved"));
  }
  return (
    <div className="space-y-5">
      <ReadOnly on={!owns}>
        <AgentFields draft={editing.draft} set={editing.set} self={agent.agent_id} />
      </ReadOnly>
      {agent.mistakes.length > 0 && <Failed error={new Error(agent.mistakes.join(" "))} />}
      <Outcome editing={editing} />
      {dialog}
      {owns && (
        <SaveRow editing={{ ...editing, dirty: editing.dirty && !wrong }} onSave={() => void save()}>
          <Passkey agent={agent} onPasskey={onPasskey} />
          <Activity agent={agent} />
        </SaveRow>
      )}
    </div>
  );
}

function Passkey({ agent, onPasskey }: { agent: Agent; onPasskey: (passkey: string) => void }) {
  const { t } = useTranslation("settings");
  const [asking, setAsking] = useState(false);
  async function renew() {
    onPasskey((await renewPasskey(agent.agent_id)).passkey);
  }
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <KeyRound size={15} aria-hidden />
        {t("agent.renew")}
      </Button>
      <Confirm
        open={asking}
        title={t("agent.renewTitle", { name: agent.name })}
        action={t("agent.renew")}
        onClose={() => setAsking(false)}
        onConfirm={renew}
      >
        {t("agent.renewText")}
      </Confirm>
    </>
  );
}

function Activity({ agent }: { agent: Agent }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const active = agent.status === "active";
  async function change(off: boolean) {
    try {
      await (off ? deactivateAgent : activateAgent)(agent.agent_id);
      const words = t(off ? "agent.deactivated" : "agent.activated", { name: agent.name });
      toast.done(words, off ? () => void change(false) : undefined);
      await client.invalidateQueries({ queryKey: ["agents"] });
    } catch (error) {
      toast.failed(error);
    }
  }
  return (
    <Button look={active ? "danger" : "plain"} onClick={() => void change(active)}>
      <Power size={15} aria-hidden />
      {t(active ? "agent.deactivate" : "agent.activate")}
    </Button>
  );
}
