// One event: its sentence, time and actor; unfolded, all its data.
import {
  Bot,
  ChevronRight,
  CircleDot,
  Cog,
  FolderGit2,
  KeyRound,
  MessageSquare,
  Rocket,
  Scale,
  ShieldAlert,
  User,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";

import type { Event } from "@/api/model";
import { Link } from "@/app/routing";
import { sentence, type Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Button } from "@/ui";

const ICONS: Record<string, LucideIcon> = {
  task: CircleDot,
  check: CircleDot,
  agent: Bot,
  account: Bot,
  session: Bot,
  launch: Rocket,
  decision: Scale,
  manager: Scale,
  message: MessageSquare,
  conversation: MessageSquare,
  delegation: MessageSquare,
  chat: MessageSquare,
  person: User,
  key: KeyRound,
  worktree: FolderGit2,
  guard: ShieldAlert,
};
const BAD = /failed|refused|runaway|locked|lost|expired|used_up|blocked|nobody|hindered|mismatch|stalled|cooling/;

interface EntryProps {
  event: Event;
  names: Names;
  projectId: string;
  onTrace: (id: string) => void;
}

export function Entry({ event, names, projectId, onTrace }: EntryProps) {
  const { t } = useTranslation("audit");
  const [open, setOpen] = useState(false);
  const Icon = ICONS[event.kind.split(".")[0] ?? ""] ?? Cog;
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-start gap-2.5 px-3 py-2 text-left hover:bg-sunken md:px-4"
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={`mt-1 shrink-0 text-faint transition-transform ${open ? "rotate-90" : ""}`}
        />
        <Icon size={15} aria-hidden className={`mt-0.5 shrink-0 ${BAD.test(event.kind) ? "text-red" : "text-faint"}`} />
        <span className="min-w-0 flex-1 break-words">{sentence(event, names, t)}</span>
        <span className="w-20 shrink-0 text-right text-xs text-faint">
          <Ago at={event.at} />
        </span>
      </button>
      {open && <Everything event={event} names={names} projectId={projectId} onTrace={onTrace} />}
    </li>
  );
}

function Everything({ event, names, projectId, onTrace }: EntryProps) {
  const { t, i18n } = useTranslation("audit");
  const trace = event.correlation_id;
  return (
    <div className="space-y-2 px-3 pb-3 pl-10 text-[13px] text-soft md:px-4 md:pl-12">
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        <span>{new Date(event.at).toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "medium" })}</span>
        <span>{t("sequence", { number: event.sequence })}</span>
        <span className="font-mono">{event.kind}</span>
        {event.task_id !== null && (
          <Link to="/t/$taskId" params={{ taskId: event.task_id }} className="link">
            {names.task(event.task_id)}
          </Link>
        )}
        {event.launch_id !== null && (
          <Link
            to="/p/$projectId/logs"
            params={{ projectId: event.project_id ?? projectId }}
            search={{ launch: event.launch_id }}
            className="link"
          >
            {t("nav.logs")}
          </Link>
        )}
      </p>
      {trace !== null && (
        <p className="flex flex-wrap gap-2">
          <Button small onClick={() => onTrace(trace)}>
            {t("trace")}
          </Button>
          <Link
            to="/p/$projectId/timeline"
            params={{ projectId: event.project_id ?? projectId }}
            search={{ trace }}
            className="inline-flex h-7 items-center link"
          >
            {t("timeline")}
          </Link>
        </p>
      )}
      <pre
        aria-label={t("data")}
        className="overflow-x-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs text-ink"
      >
        {JSON.stringify(event.data, null, 2)}
      </pre>
    </div>
  );
}
