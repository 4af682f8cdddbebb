// The acts of the team view, and the dialogs that some of them open.
import { useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";

import { activateAgent, resumeAgent } from "@/api/actions";
import { deactivateAgent, renewPasskey, setMember } from "@/api/agents";
import type { Agent } from "@/api/model";
import { navigate } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, Confirm, Copyable, Dialog, useToast } from "@/ui";

import { Editor } from "./editor";
import type { Acts } from "./menu";

type Asked =
  | { kind: "edit"; agent: Agent }
  | { kind: "deactivate" | "passkey" | "leave"; agent: Agent }
  | { kind: "shown"; agent: Agent; passkey: string };

export function useActs(projectId: string): { acts: Acts; dialogs: React.ReactNode } {
  const { t } = useTranslation("team");
  const client = useQueryClient();
  const toast = useToast();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);

  /** Throws what was refused: a dialog shows it where it was asked for. */
  async function carryOut(act: () => Promise<unknown>, done: string, undo?: () => void) {
    await act();
    toast.done(done, undo);
    for (const key of ["agents", "members", "overview", "why"]) void client.invalidateQueries({ queryKey: [key] });
  }
  const named = (name: string) => ({ name });
  const activate = ({ agent_id, name }: Agent) =>
    void carryOut(() => activateAgent(agent_id), t("done.activated", named(name))).catch(toast.failed);
  const join = ({ agent_id, name }: Agent) =>
    void carryOut(() => setMember(projectId, agent_id, true), t("done.joined", named(name))).catch(toast.failed);
  const confirmed = {
    deactivate: (agent: Agent) =>
      carryOut(
        () => deactivateAgent(agent.agent_id),
        t("done.deactivated", named(agent.name)),
        () => activate(agent),
      ),
    leave: (agent: Agent) =>
      carryOut(
        () => setMember(projectId, agent.agent_id, false),
        t("done.left", named(agent.name)),
        () => join(agent),
      ),
    passkey: (agent: Agent) =>
      renewPasskey(agent.agent_id).then(({ passkey }) => setAsked({ kind: "shown", agent, passkey })),
  };
  const acts: Acts = {
    chat: (agent) =>
      void navigate({ to: "/p/$projectId/chat", params: { projectId }, search: { agent: agent.agent_id } }),
    edit: (agent) => setAsked({ kind: "edit", agent }),
    resume: (agent) =>
      void carryOut(() => resumeAgent(agent.agent_id), t("done.resumed", named(agent.name))).catch(toast.failed),
    activate,
    deactivate: (agent) => setAsked({ kind: "deactivate", agent }),
    passkey: (agent) => setAsked({ kind: "passkey", agent }),
    leave: (agent) => setAsked({ kind: "leave", agent }),
  };
  const dialogs = (
    <>
      {asked?.kind === "edit" && (
        <Editor agent={asked.agent} onClose={() => setAsked((now) => (now?.kind === "edit" ? null : now))} />
      )}
      {asked?.kind === "shown" && <Passkey name={asked.agent.name} passkey={asked.passkey} onClose={close} />}
      {asked !== null && asked.kind !== "edit" && asked.kind !== "shown" && (
        <Confirm
          open
          title={t(`ask.${asked.kind}`, named(asked.agent.name))}
          action={t(`act.${asked.kind}`)}
          onClose={() => setAsked((now) => (now === asked ? null : now))}
          onConfirm={() => confirmed[asked.kind](asked.agent)}
        >
          {t(`askText.${asked.kind}`)}
        </Confirm>
      )}
    </>
  );
  return { acts, dialogs };
}

/** Shown once: the server keeps only its digest. */
export function Passkey({ name, passkey, onClose }: { name: string; passkey: string; onClose: () => void }) {
  const { t } = useTranslation("team");
  return (
    <Dialog open onClose={onClose} title={t("passkeyOf", { name })}>
      <div className="space-y-4">
        <p className="flex gap-2 text-amber">
          <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          {t("passkeyOnce")}
        </p>
        <Copyable text={passkey} />
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            {t("passkeyKept")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
