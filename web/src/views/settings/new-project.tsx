// Making a project: its name and its directory; then the first agent of it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import { projects, serverStatus } from "@/api/queries";
import { newAgent } from "@/app/overlays";
import { navigate } from "@/app/routing";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Dialog, Failed, Form, More, TextArea, TextField, idOf, useToast } from "@/ui";

const EMPTY = { name: "", directory: "", description: "", id: "", worktrees: false, budget: "" };

export function NewProject({ close }: { close: () => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const taken = (useQuery(projects).data ?? []).map((each) => each.project_id);
  const [said, , draft] = useDraft("new-project", EMPTY);
  const [key] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  const id = said.id.trim() || idOf(said.name, taken);
  const directory = said.directory.trim();
  const wrong = directory !== "" && !/^[/~]/.test(directory) && !/^[A-Za-z]:[\\/]/.test(directory);
  async function create() {
    setError(null);
    try {
      const settings = {
        ...(said.worktrees ? { isolation: "worktree" } : {}),
        ...(said.budget.trim() === "" ? {} : { budget_per_day: said.budget.trim() }),
      };
      const body = {
        name: said.name,
        working_directory: directory,
        description: said.description,
        settings,
        id: id || undefined,
      };
      const made = await api.post("/projects", { body, idempotencyKey: key });
      await client.invalidateQueries({ queryKey: ["projects"] });
      toast.done(t("project.created", { name: said.name }));
      draft.done();
      close();
      await navigate({ to: "/p/$projectId", params: { projectId: made.project_id } });
      newAgent(made.project_id); // nothing happens in a project before there is one
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={t("project.new")}>
      <Form className="space-y-4" onSend={() => void create()}>
        <DraftLine draft={draft} />
        <div>
          <TextField label={t("project.name")} value={said.name} onChange={draft.field("name")} required />
          {id !== "" && <p className="mt-1 text-xs text-faint">{t("agent.willBe", { id })}</p>}
        </div>
        <TextField
          label={t("project.directory")}
          help={useWhere()}
          error={wrong ? t("project.notAbsolute") : null}
          value={said.directory}
          onChange={draft.field("directory")}
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        <More open={said.worktrees || [said.budget, said.description, said.id].some((each) => each !== "")}>
          <Checkbox label={t("project.worktrees")} checked={said.worktrees} onChange={draft.field("worktrees")} />
          <TextField
            label={t("setting.budget_per_day")}
            help={t("project.budgetHelp")}
            inputMode="decimal"
            value={said.budget}
            onChange={draft.field("budget")}
          />
          <TextField
            label={t("project.id")}
            help={t("project.idHelp")}
            value={said.id}
            onChange={draft.field("id")}
            placeholder={id}
          />
          <TextArea label={t("project.description")} value={said.description} onChange={draft.field("description")} />
        </More>
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={said.name.trim() === "" || directory === "" || wrong}>
            {t("project.create")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** On whose disk the directory must be: the server cannot look there. */
function useWhere(): string {
  const { t } = useTranslation("settings");
  const names = (useQuery(serverStatus).data?.coordinators ?? []).map((each) => each.coordinator_id);
  return names.length === 0 ? t("project.directoryHelp") : t("project.directoryOn", { names: names.join(", ") });
}
