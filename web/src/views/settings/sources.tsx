// What schedules and webhooks have in common: they create the tasks of a project by themselves. Their lists, what became
// of their times or requests, and what to do about them; when they create tasks is in schedules.tsx and webhooks.tsx.
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { Pause, Pencil, Play, Plus, Trash2, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";

import type { Schedule, ScheduleRun, Webhook, WebhookDelivery } from "@/api/model";
import { projects } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { navigate, useSearch } from "@/app/routing";
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

/** By this their words begin, and the keys of their queries. */
export type Kind = "schedule" | "webhook";

export type Source = Schedule | Webhook;

const TONES: Record<Source["state"], Tone> = { active: "green", paused: "amber", stopped: "red", ended: "plain" };

interface SourceTabProps<Each extends Source> {
  kind: Kind;
  icon: LucideIcon;
  /** Those of a project. */
  useAll: (projectId: string) => UseQueryResult<Each[]>;
  row: (each: Each) => ReactNode;
  form: (projectId: string, close: () => void) => ReactNode;
}

export function SourceTab<Each extends Source>({ form, ...list }: SourceTabProps<Each>) {
  const { kind } = list;
  const { t } = useTranslation("settings");
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const { q } = useSearch();
  const writes = useWrites();
  const [making, setMaking] = useState(false);
  const chosen = all.find((each) => each.project_id === q) ?? all[0];
  return (
    <>
      <Head title={t(`tabs.${kind}s`)} help={t(`${kind}.help`)}>
        {writes && (
          <Button look="primary" disabled={chosen === undefined} onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t(`${kind}.new`)}
          </Button>
        )}
      </Head>
      {all.length > 1 && (
        <div className="max-w-xs">
          <SelectField
            label={t("source.project")}
            value={chosen?.project_id ?? ""}
            onChange={(id) => void navigate({ to: "/settings", search: { tab: `${kind}s`, q: id } })}
            choices={all.map((each) => ({ value: each.project_id, label: each.name }))}
          />
        </div>
      )}
      {chosen !== undefined && <List key={chosen.project_id} projectId={chosen.project_id} {...list} />}
      {chosen !== undefined && making && form(chosen.project_id, () => setMaking(false))}
    </>
  );
}

type ListProps<Each extends Source> = Omit<SourceTabProps<Each>, "form"> & { projectId: string };

function List<Each extends Source>({ projectId, kind, icon: Icon, useAll, row }: ListProps<Each>) {
  const { t } = useTranslation("settings");
  const found = useAll(projectId);
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <Panel>
      {found.data.length === 0 && (
        <Empty icon={<Icon size={24} aria-hidden />} title={t(`${kind}.none`)}>
          {t(`${kind}.noneHelp`)}
        </Empty>
      )}
      <ul className="divide-y divide-line">{found.data.map(row)}</ul>
    </Panel>
  );
}

interface SourceRowProps extends ActsProps {
  /** What is said of it, besides its tasks' assignee. */
  facts: (string | null)[];
  /** What came of it last. */
  last: ReactNode;
  history: ReactNode;
  form: (close: () => void) => ReactNode;
  children?: ReactNode;
}

export function SourceRow({ facts, last, history, form, children, ...acts }: SourceRowProps) {
  const { kind, each } = acts;
  const { t } = useTranslation("settings");
  const writes = useWrites();
  const names = useNames("");
  const [editing, setEditing] = useState(false);
  const [open, setOpen] = useState(false);
  const whose = each.task.assignee_id === null ? each.task.agent_type : names.agent(each.task.assignee_id);
  return (
    <li className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-40 font-medium break-words">{each.name}</p>
        <Badge tone={TONES[each.state]}>{t(`source.state.${each.state}`)}</Badge>
      </div>
      {children}
      <p className="text-[13px] break-words text-soft">{[...facts, whose].filter(Boolean).join(" · ")}</p>
      {each.reason !== null && <p className="text-[13px] text-soft">{each.reason}</p>}
      {each.state === "stopped" && (
        <p className="text-[13px] text-red">{t(`${kind}.failedInARow`, { count: each.failures })}</p>
      )}
      {last !== null && (
        <p className="text-[13px] break-words text-soft">
          {t(`${kind}.last`)}: {last}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {writes && <Acts {...acts} edit={() => setEditing(true)} />}
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {t(`${kind}.history`)}
        </Button>
      </div>
      {open && history}
      {editing && form(() => setEditing(false))}
    </li>
  );
}

/** Does something to one, says that it was done, and reads them all again. */
export function useDone(kind: Kind) {
  const client = useQueryClient();
  const toast = useToast();
  return async (what: Promise<unknown>, told: string) => {
    try {
      await what;
      toast.done(told);
      await client.invalidateQueries({ queryKey: [`${kind}s`] });
    } catch (error) {
      toast.failed(error);
    }
  };
}

interface ActsProps {
  kind: Kind;
  each: Source;
  pause: () => Promise<unknown>;
  resume: () => Promise<unknown>;
  remove: () => Promise<unknown>;
  /** What can be done only with this kind: before what can be done with both, and before it is deleted. */
  first?: ReactNode;
  more?: ReactNode;
}

function Acts({ kind, each, pause, resume, remove, first, more, edit }: ActsProps & { edit: () => void }) {
  const { t } = useTranslation("settings");
  const done = useDone(kind);
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      {first}
      {(each.state === "paused" || each.state === "stopped") && (
        <Button small onClick={() => void done(resume(), t(`${kind}.resumed`))}>
          <Play size={14} aria-hidden />
          {t("source.resume")}
        </Button>
      )}
      {each.state === "active" && (
        <Button small onClick={() => void done(pause(), t(`${kind}.paused`))}>
          <Pause size={14} aria-hidden />
          {t("source.pause")}
        </Button>
      )}
      <Button small onClick={edit}>
        <Pencil size={14} aria-hidden />
        {t("source.edit")}
      </Button>
      {more}
      <Button small look="danger" onClick={() => setDeleting(true)}>
        <Trash2 size={14} aria-hidden />
        {t("source.delete")}
      </Button>
      <Confirm
        open={deleting}
        title={t("source.deleteTitle", { name: each.name })}
        action={t("source.delete")}
        onClose={() => setDeleting(false)}
        onConfirm={() => done(remove(), t(`${kind}.deleted`))}
      >
        {t(`${kind}.deleteText`)}
      </Confirm>
    </>
  );
}

type Entry = ScheduleRun | WebhookDelivery;

export function History({ kind, found }: { kind: Kind; found: UseQueryResult<Entry[]> }) {
  const { t, i18n } = useTranslation("settings");
  const names = useNames("");
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  if (found.data.length === 0) return <p className="text-[13px] text-soft">{t(`${kind}.noHistory`)}</p>;
  return (
    <ul className="space-y-1 text-[13px]">
      {found.data.map((each) => {
        const [id, at] = "run_id" in each ? [each.run_id, each.scheduled_at] : [each.delivery_id, each.at];
        return (
          <li key={id} className="flex flex-wrap gap-x-3">
            <time dateTime={at} className="text-soft tabular-nums">
              {timeOfDay(at, i18n.language)}
            </time>
            {"event" in each && each.event !== null && <span className="text-soft">{each.event}</span>}
            <span className="min-w-0 break-words">
              <Outcome kind={kind} each={each} />
              {"started_by" in each && each.started_by !== null && (
                <span className="text-soft"> · {t("schedule.by", { who: names.agent(each.started_by) })}</span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The task that it created, or why there is none. */
export function Outcome({ kind, each }: { kind: Kind; each: Entry }) {
  const { t } = useTranslation("settings");
  const openTask = useOpenTask();
  if (each.task_id !== null)
    return (
      <>
        <button type="button" className="underline" onClick={() => openTask(each.task_id)}>
          {t(`status.${each.task_status ?? "todo"}`)}
        </button>
        {"waits" in each && each.waits && ` · ${t("webhook.waits")}`}
      </>
    );
  return (
    <>
      {t(`${kind}.outcome.${each.outcome}`)}
      {each.reason !== null && `: ${each.reason}`}
      {each.times > 1 && ` (${t("source.times", { count: each.times })})`}
    </>
  );
}
