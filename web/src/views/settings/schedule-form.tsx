// Creating or changing a schedule: when, which task, and what happens if a time is missed or an earlier task is open.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";

import type { Schedule } from "@/api/model";
import { addSchedule, editSchedule, scheduleTimes } from "@/api/schedules";
import { useDraft, type Draft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { SelectField, TextField } from "@/ui";
import { HOUR, KINDS, fieldsOf, ruleOf, wrongIn, zones, type Said } from "@/views/settings/schedule-said";
import { sourceBody, SourceForm } from "@/views/settings/source-form";

const OVERLAPS = ["skip", "buffer_one", "allow_all", "cancel_other"] as const;

interface ScheduleFormProps {
  projectId: string;
  /** Null: it is made. */
  schedule: Schedule | null;
  close: () => void;
}

export function ScheduleForm({ projectId, schedule, close }: ScheduleFormProps) {
  const { t } = useTranslation("settings");
  const start = fieldsOf(schedule);
  const [said, , draft] = useDraft(
    schedule === null ? `new-schedule.${projectId}` : `schedule.${schedule.schedule_id}`,
    start,
  );
  function save(key: string) {
    const body = {
      ...sourceBody(said, schedule),
      overlap: said.overlap,
      catch_up_seconds: Math.round(Number(said.catch_up_hours) * HOUR),
      ...ruleOf(said, schedule === null ? null : start),
    };
    return schedule === null ? addSchedule(projectId, body, key) : editSchedule(schedule.schedule_id, body);
  }
  return (
    <SourceForm
      kind="schedule"
      projectId={projectId}
      titleHelp={t("schedule.titleHelp")}
      policies={<Policies said={said} field={draft.field} />}
      before={schedule}
      said={said}
      field={draft.field}
      draft={draft}
      wrong={wrongIn(said)}
      save={save}
      close={close}
    >
      <When said={said} field={draft.field} />
    </SourceForm>
  );
}

interface PartProps {
  said: Said;
  field: Draft<Said>["field"];
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
    </>
  );
}
