// Schedules: the tasks of a project that are created at certain times, what became of those times, and what to do about
// them.
import { useQuery } from "@tanstack/react-query";
import { CalendarClock, SkipForward } from "lucide-react";

import { resumeSchedule } from "@/api/actions";
import type { Schedule } from "@/api/model";
import { deleteSchedule, pauseSchedule, runSchedule, scheduleRuns, schedules } from "@/api/schedules";
import { useNames } from "@/app/names";
import type { Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Button, timeOfDay } from "@/ui";
import { ScheduleForm } from "@/views/settings/schedule-form";
import { History, Outcome, SourceRow, SourceTab, useDone } from "@/views/settings/sources";

/** Minutes. */
const HOUR = 60;
const DAY = 24 * HOUR;

const useSchedules = (projectId: string) => useQuery(schedules(projectId));

export function SchedulesTab() {
  return (
    <SourceTab
      kind="schedule"
      icon={CalendarClock}
      useAll={useSchedules}
      row={(each) => <Row key={each.schedule_id} each={each} />}
      form={(projectId, close) => <ScheduleForm projectId={projectId} schedule={null} close={close} />}
    />
  );
}

function Row({ each }: { each: Schedule }) {
  const { t, i18n } = useTranslation("settings");
  const when = useWhen(useNames(each.project_id));
  const id = each.schedule_id;
  const next = each.next_at === null ? null : t("schedule.next", { when: timeOfDay(each.next_at, i18n.language) });
  return (
    <SourceRow
      kind="schedule"
      each={each}
      facts={[when(each), next]}
      last={each.last_run && <Outcome kind="schedule" each={each.last_run} />}
      pause={() => pauseSchedule(id)}
      resume={() => resumeSchedule(id)}
      remove={() => deleteSchedule(id)}
      first={<Run each={each} />}
      history={<Runs of={id} />}
      form={(close) => <ScheduleForm projectId={each.project_id} schedule={each} close={close} />}
    />
  );
}

function Run({ each }: { each: Schedule }) {
  const { t } = useTranslation("settings");
  const done = useDone("schedule");
  return (
    <Button small onClick={() => void done(runSchedule(each.schedule_id), t("schedule.ran", { name: each.name }))}>
      <SkipForward size={14} aria-hidden />
      {t("schedule.run")}
    </Button>
  );
}

function Runs({ of }: { of: string }) {
  return <History kind="schedule" found={useQuery(scheduleRuns(of))} />;
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
