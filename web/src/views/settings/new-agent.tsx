// Making an agent. What the server refuses is shown in its words, and nothing that was typed is lost.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { send } from "@/api/client";
import { projects } from "@/api/queries";
import { Button, Checkbox, Dialog, Failed, TextField, useToast } from "@/ui";
import { EMPTY, bodyOf, wrongJson } from "@/views/settings/agent-fields";
import { AgentFields } from "@/views/settings/agent-form";
import { changed } from "@/views/settings/editing";

interface NewAgentProps {
  open: boolean;
  close: () => void;
  onPasskey: (passkey: string) => void;
}

export function NewAgent({ open, close, onPasskey }: NewAgentProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const all = useQuery(projects).data ?? [];
  const [draft, setDraft] = useState(EMPTY);
  const [joins, setJoins] = useState<string[]>([]);
  const [error, setError] = useState<unknown>(null);
  const set = (name: string) => (value: string) => setDraft((known) => ({ ...known, [name]: value }));
  const id = draft["id"] ?? "";
  async function create() {
    setError(null);
    try {
      const given = { ...bodyOf(changed(EMPTY, draft), draft), role: draft["role"], projects: joins };
      const body = { id: id.trim(), ...given, name: draft["name"] || id.trim() };
      const made = await send<{ passkey: string; agent: { name: string } }>("POST", "/agents", { body });
      await client.invalidateQueries({ queryKey: ["agents"] });
      toast.done(t("agent.created", { name: made.agent.name }));
      setDraft(EMPTY);
      close();
      onPasskey(made.passkey);
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog side open={open} onClose={close} title={t("agent.new")}>
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField
          label={t("agent.id")}
          help={t("agent.idHelp")}
          value={id}
          onChange={set("id")}
          autoCapitalize="none"
          required
        />
        <AgentFields draft={draft} set={set} self={null} />
        <fieldset>
          <legend className="mb-1 text-[13px] font-semibold">{t("agent.projects")}</legend>
          <div className="flex flex-wrap gap-x-5">
            {all.map((each) => (
              <Checkbox
                key={each.project_id}
                label={each.name}
                checked={joins.includes(each.project_id)}
                onChange={(joined) =>
                  setJoins((known) =>
                    joined ? [...known, each.project_id] : known.filter((one) => one !== each.project_id),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={id.trim() === "" || wrongJson(draft["others"] ?? "") !== null}>
            {t("agent.create")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
