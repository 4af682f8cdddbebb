// Schedules: the tasks of a project that are created at certain times, what became of those times, and what to do about
// them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CalendarClock, Pause, Pencil, Play, Plus, SkipForward, Trash2 } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import type { Schedule, ScheduleRun } from "@/api/model";
import { projects } from "@/api/queries";
import { ofSchedule } from "@/api/routes";
import { scheduleRuns, schedules } from "@/api/schedules";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { navigate, useSearch } from "@/app/routing";
import type { Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import {
  Badge,
  Button,
  Confirm,
  Empty,
  Failed,
  Loading,
  Panel,
  SelectField,
  timeOfDay,
  useToast,
  type Tone,
} from "@/ui";
import { Head } from "@/views/settings/parts";
import { ScheduleForm } from "@/views/settings/schedule-form";

/** Minutes. */
const HOUR = 60;
const DAY = 24 * HOUR;

const TONES: Record<Schedule["state"], Tone> = { active: "green", paused: "amber", stopped: "red", ended: "plain" };

export function SchedulesTab() {
  const { t } = useTranslation("settings");
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const { q } = useSearch();
  const writes = useWrites();
  const [making, setMaking] = useState(false);
  const chosen = all.find((each) => each.project_id === q) ?? all[0];
  return (
    <>
      <Head title={t("tabs.schedules")} help={t("schedule.help")}>
        {writes && (
          <Button look="primary" disabled={chosen === undefined} onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t("schedule.new")}
          </Button>
        )}
      </Head>
      {all.length > 1 && (
        <div className="max-w-xs">
          <SelectField
            label={t("schedule.project")}
            value={chosen?.project_id ?? ""}
            onChange={(id) => void navigate({ to: "/settings", search: { tab: "schedules", q: id } })}
            choices={all.map((each) => ({ value: each.project_id, label: each.name }))}
          />
        </div>
      )}
      {chosen !== undefined && <Schedules key={chosen.project_id} projectId={chosen.project_id} />}
      {chosen !== undefined && making && (
        <ScheduleForm projectId={chosen.project_id} schedule={null} close={() => setMaking(false)} />
      )}
    </>
  );
}

function Schedules({ projectId }: { projectId: string }) {
  const { t } = useTranslation("settings");
  const found = useQuery(schedules(projectId));
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <Panel>
      {found.data.length === 0 && (
        <Empty icon={<CalendarClock size={24} aria-hidden />} title={t("schedule.none")}>
          {t("schedule.noneHelp")}
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {found.data.map((each) => (
          <Row key={each.schedule_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ each }: { each: Schedule }) {
  const { t, i18n } = useTranslation("settings");
  const writes = useWrites();
  const names = useNames(each.project_id);
  const when = useWhen(names);
  const [editing, setEditing] = useState(false);
  const [open, setOpen] = useState(false);
  return (
    <li className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-40 font-medium break-words">{each.name}</p>
        <Badge tone={TONES[each.state]}>{t(`schedule.state.${each.state}`)}</Badge>
      </div>
      <p className="text-[13px] break-words text-soft">
        {[
          when(each),
          each.next_at === null ? null : t("schedule.next", { when: timeOfDay(each.next_at, i18n.language) }),
          each.task.assignee_id === null ? each.task.agent_type : names.agent(each.task.assignee_id),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {each.reason !== null && <p className="text-[13px] text-soft">{each.reason}</p>}
      {each.state === "stopped" && (
        <p className="text-[13px] text-red">{t("schedule.failedInARow", { count: each.failures })}</p>
      )}
      {each.last_run !== null && (
        <p className="text-[13px] text-soft">
          {t("schedule.last")}: <Outcome run={each.last_run} />
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {writes && <Acts each={each} edit={() => setEditing(true)} />}
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("schedule.history")}
        </Button>
      </div>
      {open && <History scheduleId={each.schedule_id} />}
      {editing && <ScheduleForm projectId={each.project_id} schedule={each} close={() => setEditing(false)} />}
    </li>
  );
}

function Acts({ each, edit }: { each: Schedule; edit: () => void }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [deleting, setDeleting] = useState(false);
  const path = ofSchedule(each.schedule_id);
  async function done(what: Promise<unknown>, told: string) {
    try {
      await what;
      toast.done(told);
      await client.invalidateQueries({ queryKey: ["schedules"] });
    } catch (error) {
      toast.failed(error);
    }
  }
  const resumes = each.state === "paused" || each.state === "stopped";
  return (
    <>
      <Button
        small
        onClick={() =>
          void done(api.post("/schedules/{schedule_id}/run", path), t("schedule.ran", { name: each.name }))
        }
      >
        <SkipForward size={14} aria-hidden />
        {t("schedule.run")}
      </Button>
      {resumes && (
        <Button
          small
          onClick={() => void done(api.post("/schedules/{schedule_id}/resume", path), t("schedule.resumed"))}
        >
          <Play size={14} aria-hidden />
          {t("schedule.resume")}
        </Button>
      )}
      {each.state === "active" && (
        <Button
          small
          onClick={() =>
            void done(api.post("/schedules/{schedule_id}/pause", { ...path, body: {} }), t("schedule.paused"))
          }
        >
          <Pause size={14} aria-hidden />
          {t("schedule.pause")}
        </Button>
      )}
      <Button small onClick={edit}>
        <Pencil size={14} aria-hidden />
        {t("schedule.edit")}
      </Button>
      <Button small look="danger" onClick={() => setDeleting(true)}>
        <Trash2 size={14} aria-hidden />
        {t("schedule.delete")}
      </Button>
      <Confirm
        open={deleting}
        title={t("schedule.deleteTitle", { name: each.name })}
        action={t("schedule.delete")}
        onClose={() => setDeleting(false)}
        onConfirm={() => done(api.delete("/schedules/{schedule_id}", path), t("schedule.deleted"))}
      >
        {t("schedule.deleteText")}
      </Confirm>
    </>
  );
}

function History({ scheduleId }: { scheduleId: string }) {
  const { t, i18n } = useTranslation("settings");
  const names = useNames("");
  const found = useQuery(scheduleRuns(scheduleId));
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  if (found.data.length === 0) return <p className="text-[13px] text-soft">{t("schedule.noRuns")}</p>;
  return (
    <ul className="space-y-1 text-[13px]">
      {found.data.map((run) => (
        <li key={run.run_id} className="flex flex-wrap gap-x-3">
          <time dateTime={run.scheduled_at} className="text-soft tabular-nums">
            {timeOfDay(run.scheduled_at, i18n.language)}
          </time>
          <span className="min-w-0 break-words">
            <Outcome run={run} />
            {run.started_by !== null && (
              <span className="text-soft"> · {t("schedule.by", { who: names.agent(run.started_by) })}</span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Outcome({ run }: { run: ScheduleRun }) {
  const { t } = useTranslation("settings");
  const openTask = useOpenTask();
  if (run.task_id !== null)
    return (
      <button type="button" className="underline" onClick={() => openTask(run.task_id)}>
        {t(`status.${run.task_status ?? "todo"}`)}
      </button>
    );
  const times = run.times > 1 ? ` (${t("schedule.times", { count: run.times })})` : "";
  return (
    <>
      {t(`schedule.outcome.${run.outcome}`)}
      {run.reason !== null && `: ${run.reason}`}
      {times}
    </>
  );
}

/** When it is due, in words. */
function useWhen(names: Names) {
  const { t, i18n } = useTranslation("settings");
  return (each: Schedule): string => {
    if (each.cron !== null) return `${each.cron} (${each.time_zone})`;
    if (each.after_task_id !== null) return t("schedule.afterTask", { task: names.task(each.after_task_id) });
    if (each.once_at !== null) return t("schedule.onceAt", { when: timeOfDay(each.once_at, i18n.language) });
    const minutes = Math.round((each.every_seconds ?? 0) / 60);
    if (minutes % DAY === 0) return t("schedule.everyDays", { count: minutes / DAY });
    if (minutes % HOUR === 0) return t("schedule.everyHours", { count: minutes / HOUR });
    return t("schedule.everyMinutes", { count: minutes });
  };
}
