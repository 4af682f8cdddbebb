// The form in which a schedule or a webhook is made or changed, but for when it creates tasks.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { members } from "@/api/queries";
import { DraftLine, type Draft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Failed, Form, More, SelectField, TextArea, TextField, useToast } from "@/ui";
import type { Kind, Source } from "@/views/settings/sources";

const PRIORITIES = ["critical", "high", "medium", "low"] as const;

/** Its fields as texts, but for when. */
export interface SourceSaid {
  name: string;
  title: string;
  description: string;
  assignee: string;
  priority: Source["task"]["priority"];
  max_failures: string;
}

export const sourceFields = (each: Source | null): SourceSaid => ({
  name: each?.name ?? "",
  title: each?.task.title ?? "",
  description: each?.task.description ?? "",
  assignee: each?.task.assignee_id ?? "",
  priority: each?.task.priority ?? "medium",
  max_failures: String(each?.max_failures ?? 3),
});

/** What is sent of them. */
export const sourceBody = (said: SourceSaid, before: Source | null) => ({
  name: said.name,
  title: said.title,
  description: said.description,
  priority: said.priority,
  max_failures: Number(said.max_failures),
  ...(said.assignee === (before?.task.assignee_id ?? "") ? {} : { assignee_id: said.assignee || null }),
});

/** An empty field is no zero. */
export const isNumber = (text: string): boolean => text.trim() !== "" && Number(text) >= 0;

export const sourceWrong = (said: SourceSaid): boolean =>
  said.name.trim() === "" || said.title.trim() === "" || !isNumber(said.max_failures);

interface SourceFormProps<Said> {
  kind: Kind;
  projectId: string;
  /** Null: it is made. */
  before: Source | null;
  said: SourceSaid;
  field: Draft<SourceSaid>["field"];
  draft: Draft<Said>;
  wrong: boolean;
  /** `key`: the same for each attempt. */
  save: (key: string) => Promise<unknown>;
  close: () => void;
  titleHelp: string;
  /** What is rarely changed. */
  policies?: ReactNode;
  /** When it creates tasks. */
  children: ReactNode;
}

export function SourceForm<Said>(props: SourceFormProps<Said>) {
  const { kind, before, said, field, draft, save, close } = props;
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [key] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  async function send() {
    setError(null);
    try {
      await save(key);
      await client.invalidateQueries({ queryKey: [`${kind}s`] });
      toast.done(t(`${kind}.saved`, { name: said.name }));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={before === null ? t(`${kind}.new`) : before.name}>
      <Form className="space-y-4" onSend={() => void send()}>
        <DraftLine draft={draft} />
        <TextField label={t("source.name")} value={said.name} onChange={field("name")} maxLength={200} required />
        {props.children}
        {kind === "schedule" ? (
          <fieldset className="space-y-3">
            <legend className="mb-2 text-[13px] font-semibold">{t("schedule.task")}</legend>
            <TaskFields {...props} />
          </fieldset>
        ) : (
          <TaskFields {...props} />
        )}
        <More open={before !== null}>
          {props.policies}
          <TextField
            label={t("source.maxFailures")}
            help={t("source.maxFailuresHelp")}
            value={said.max_failures}
            onChange={field("max_failures")}
            inputMode="numeric"
          />
          <SelectField
            label={t("source.priority")}
            value={said.priority}
            onChange={field("priority")}
            choices={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
          />
        </More>
        {before !== null && <p className="text-xs text-faint">{t("source.runsAsYou")}</p>}
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={props.wrong}>
            {before === null ? t(`${kind}.create`) : t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

type TaskFieldsProps = Pick<SourceFormProps<unknown>, "projectId" | "said" | "field" | "titleHelp">;

function TaskFields({ projectId, said, field, titleHelp }: TaskFieldsProps) {
  const { t } = useTranslation("settings");
  const all = useQuery(members(projectId)).data ?? [];
  return (
    <>
      <TextField
        label={t("source.title")}
        help={titleHelp}
        value={said.title}
        onChange={field("title")}
        maxLength={300}
        required
      />
      <TextArea label={t("source.description")} value={said.description} onChange={field("description")} rows={3} />
      <SelectField
        label={t("source.assignee")}
        help={t("source.assigneeHelp")}
        value={said.assignee}
        onChange={field("assignee")}
        choices={[
          { value: "", label: t("agent.nobody") },
          ...all.map((each) => ({ value: each.agent_id, label: each.name })),
        ]}
      />
    </>
  );
}
