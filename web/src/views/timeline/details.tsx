// The bar that is chosen, in full: what for, how it went, how long, how many tokens; and the request it belongs to.
import { ArrowUpRight, ListTree, X } from "lucide-react";

import type { BoardTask } from "@/api/model";
import { DoingOf } from "@/app/doing-of";
import { programOf } from "@/app/program-of";
import { errorInWords, inWords } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Button, Elapsed, IconButton, StatusBadge, type Tone } from "@/ui";

import { type Bar, type Result } from "./lanes";

export const TONES: Record<Result, Tone> = {
  running: "blue",
  completed: "green",
  failed: "red",
  blocked: "amber",
  cancelled: "plain",
  stopped: "plain",
  restarted: "plain",
  ended: "plain",
};

interface DetailsProps {
  bar: Bar;
  who: string;
  task: BoardTask | undefined;
  onOpen: (taskId: string) => void;
  onTrace: (id: string) => void;
  onClose: () => void;
}

export function Details({ bar, who, task, onOpen, onTrace, onClose }: DetailsProps) {
  const { t, i18n } = useTranslation("timeline");
  const time = (at: number) => new Date(at).toLocaleTimeString(i18n.language, { hourCycle: "h23" });
  const title = task?.title ?? (bar.kind === "launch" ? t(`purpose.${bar.launch.purpose}`) : bar.task.title);
  return (
    <aside
      aria-label={title}
      className="absolute inset-x-2 bottom-2 z-40 max-h-[60%] space-y-3 overflow-auto rounded-xl border border-line-strong bg-panel p-4 shadow-[var(--shadow)] sm:inset-x-auto sm:right-3 sm:bottom-3 sm:w-84"
    >
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1 space-y-1.5">
          <h2 className="font-semibold break-words">{title}</h2>
          {bar.kind === "task" ? (
            <StatusBadge status={bar.task.status} />
          ) : (
            <Badge tone={TONES[bar.result]}>{t(`result.${bar.result}`)}</Badge>
          )}
        </div>
        <IconButton label={t("close")} small onClick={onClose}>
          <X size={15} />
        </IconButton>
      </header>
      {bar.kind === "launch" && bar.to === null && <DoingOf launch={bar.launch.launch_id} />}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <Fact name={t("fact.who")}>{who}</Fact>
        <Fact name={t("fact.time")}>
          {time(bar.from)} – {bar.to === null ? t("now") : time(bar.to)}
        </Fact>
        <Fact name={t("fact.lasted")}>
          <Elapsed
            from={new Date(bar.from).toISOString()}
            to={bar.to === null ? null : new Date(bar.to).toISOString()}
          />
        </Fact>
        {bar.kind === "launch" && <LaunchFacts bar={bar} />}
      </dl>
      {task !== undefined && (
        <div className="flex flex-wrap gap-2">
          <Button small look="primary" onClick={() => onOpen(task.task_id)}>
            <ArrowUpRight size={14} aria-hidden />
            {t("open")}
          </Button>
          <Button small onClick={() => onTrace(task.task_id)}>
            <ListTree size={14} aria-hidden />
            {t("trace")}
          </Button>
        </div>
      )}
    </aside>
  );
}

function LaunchFacts({ bar }: { bar: Bar & { kind: "launch" } }) {
  const { t } = useTranslation("timeline");
  const { t: audit } = useTranslation("audit");
  const { launch, tokens } = bar;
  const program = programOf(launch);
  return (
    <>
      <Fact name={t("fact.purpose")}>{t(`purpose.${launch.purpose}`)}</Fact>
      <Fact name={t("fact.reason")}>{inWords(launch.reason, audit)}</Fact>
      {program !== "" && <Fact name={t("fact.program")}>{program}</Fact>}
      {tokens !== null && <Fact name={t("fact.tokens")}>{t("tokens", { count: tokens })}</Fact>}
      {launch.end_reason !== null && <Fact name={t("fact.end")}>{inWords(launch.end_reason, audit)}</Fact>}
      {launch.exit_error !== null && <Fact name={t("fact.error")}>{errorInWords(launch.exit_error, audit)}</Fact>}
    </>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="break-words tabular-nums">{children}</dd>
    </>
  );
}
