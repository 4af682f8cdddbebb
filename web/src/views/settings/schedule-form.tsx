// Creating or changing a schedule: when, which task, and what happens if a time is missed or an earlier task is open.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";

import { api } from "@/api/client";
import type { Schedule } from "@/api/model";
import { members } from "@/api/queries";
import { inProject, ofSchedule } from "@/api/routes";
import { scheduleTimes } from "@/api/schedules";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Failed, Form, More, SelectField, TextArea, TextField, useToast } from "@/ui";
import { HOUR, KINDS, fieldsOf, ruleOf, wrongIn, zones, type Said } from "@/views/settings/schedule-said";

const OVERLAPS = ["skip", "buffer_one", "allow_all", "cancel_other"] as const;
const PRIORITIES = ["critical", "high", "medium", "low"] as const;

interface ScheduleFormProps {
  projectId: string;
  /** Null: it is made. */
  schedule: Schedule | null;
  close: () => void;
}

export function ScheduleForm({ projectId, schedule, close }: ScheduleFormProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const start = fieldsOf(schedule);
  const [said, , draft] = useDraft(
    schedule === null ? `new-schedule.${projectId}` : `schedule.${schedule.schedule_id}`,
    start,
  );
  const [key] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  const wrong = wrongIn(said);
  async function save() {
    setError(null);
    const assigned = said.assignee === (schedule?.task.assignee_id ?? "") ? {} : { assignee_id: said.assignee || null };
    const body = {
      name: said.name,
      title: said.title,
      description: said.description,
      priority: said.priority,
      overlap: said.overlap,
      catch_up_seconds: Math.round(Number(said.catch_up_hours) * HOUR),
      max_failures: Number(said.max_failures),
      ...assigned,
      ...ruleOf(said, schedule === null ? null : start),
    };
    try {
      if (schedule === null)
        await api.post("/projects/{project_id}/schedules", { ...inProject(projectId), body, idempotencyKey: key });
      else await api.patch("/schedules/{schedule_id}", { ...ofSchedule(schedule.schedule_id), body });
      await client.invalidateQueries({ queryKey: ["schedules"] });
      toast.done(t("schedule.saved", { name: said.name }));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={schedule === null ? t("schedule.new") : schedule.name}>
      <Form className="space-y-4" onSend={() => void save()}>
        <DraftLine draft={draft} />
        <TextField
          label={t("schedule.name")}
          value={said.name}
          onChange={draft.field("name")}
          maxLength={200}
          required
        />
        <When said={said} field={draft.field} />
        <What projectId={projectId} said={said} field={draft.field} />
        <More open={schedule !== null}>
          <Policies said={said} field={draft.field} />
        </More>
        {schedule !== null && <p className="text-xs text-faint">{t("schedule.runsAsYou")}</p>}
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={wrong}>
            {schedule === null ? t("schedule.create") : t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface PartProps {
  said: Said;
  field: <Name extends keyof Said>(name: Name) => (value: Said[Name]) => void;
}

function When({ said, field }: PartProps) {
  const { t } = useTranslation("settings");
  return (
    <fieldset className="space-y-3">
      <legend className="mb-2 text-[13px] font-semibold">{t("schedule.when")}</legend>
      <SelectField
        label={t("schedule.kind")}
        value={said.kind}
        onChange={field("kind")}
        choices={KINDS.map((value) => ({ value, label: t(`schedule.kinds.${value}`) }))}
      />
      {said.kind === "cron" && (
        <TextField
          label={t("schedule.cron")}
          help={t("schedule.cronHelp")}
          value={said.cron}
          onChange={field("cron")}
          className="font-mono"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
      )}
      {said.kind === "every" && (
        <TextField
          label={t("schedule.minutes")}
          value={said.minutes}
          onChange={field("minutes")}
          inputMode="decimal"
          required
        />
      )}
      {said.kind === "once" && (
        <TextField
          label={t("schedule.once")}
          type="datetime-local"
          value={said.once}
          onChange={field("once")}
          required
        />
      )}
      {said.kind === "after" && (
        <TextField
          label={t("schedule.after")}
          help={t("schedule.afterHelp")}
          value={said.after}
          onChange={field("after")}
          className="font-mono"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
      )}
      {said.kind === "cron" && (
        <SelectField
          label={t("schedule.timeZone")}
          value={said.time_zone}
          onChange={field("time_zone")}
          choices={zones(said.time_zone).map((each) => ({ value: each, label: each }))}
        />
      )}
      {said.kind === "cron" && said.cron.trim() !== "" && <Preview cron={said.cron} timeZone={said.time_zone} />}
    </fieldset>
  );
}

/** When it will be due, before it is saved; or what is wrong with the expression, in the server's words. */
function Preview({ cron, timeZone }: { cron: string; timeZone: string }) {
  const { t } = useTranslation("settings");
  const expression = useDeferredValue(cron.trim());
  const found = useQuery({ ...scheduleTimes(expression, timeZone), placeholderData: keepPreviousData, retry: false });
  if (found.isError) return <p className="text-xs text-red">{found.error.message}</p>;
  const times = (found.data ?? []).slice(0, 3).map((each) => each.local);
  return (
    <p aria-live="polite" className="text-xs text-soft tabular-nums">
      {times.length > 0 && t("schedule.next", { when: times.join(", ") })}
    </p>
  );
}

function What({ projectId, said, field }: PartProps & { projectId: string }) {
  const { t } = useTranslation("settings");
  const all = useQuery(members(projectId)).data ?? [];
  return (
    <fieldset className="space-y-3">
      <legend className="mb-2 text-[13px] font-semibold">{t("schedule.task")}</legend>
      <TextField
        label={t("schedule.title")}
        help={t("schedule.titleHelp")}
        value={said.title}
        onChange={field("title")}
        maxLength={300}
        required
      />
      <TextArea label={t("schedule.description")} value={said.description} onChange={field("description")} rows={3} />
      <SelectField
        label={t("schedule.assignee")}
        help={t("schedule.assigneeHelp")}
        value={said.assignee}
        onChange={field("assignee")}
        choices={[
          { value: "", label: t("agent.nobody") },
          ...all.map((each) => ({ value: each.agent_id, label: each.name })),
        ]}
      />
    </fieldset>
  );
}

function Policies({ said, field }: PartProps) {
  const { t } = useTranslation("settings");
  return (
    <>
      <SelectField
        label={t("schedule.overlap")}
        value={said.overlap}
        onChange={field("overlap")}
        choices={OVERLAPS.map((value) => ({ value, label: t(`schedule.overlaps.${value}`) }))}
      />
      <TextField
        label={t("schedule.catchUp")}
        help={t("schedule.catchUpHelp")}
        value={said.catch_up_hours}
        onChange={field("catch_up_hours")}
        inputMode="decimal"
      />
      <TextField
        label={t("schedule.maxFailures")}
        help={t("schedule.maxFailuresHelp")}
        value={said.max_failures}
        onChange={field("max_failures")}
        inputMode="numeric"
      />
      <SelectField
        label={t("schedule.priority")}
        value={said.priority}
        onChange={field("priority")}
        choices={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
      />
    </>
  );
}
