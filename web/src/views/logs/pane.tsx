// One launch: what is known of it, its tools, and what it said and did, as a conversation or as it was printed.
import { ArrowLeft } from "lucide-react";
import { useMemo, useState } from "react";

import type { LaunchUsage, LogPage } from "@/api/model";
import { DoingOf } from "@/app/doing-of";
import { useNames } from "@/app/names";
import { isPlain, readable, useItems, useOutput } from "@/app/output";
import { Link, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Elapsed, Failed, IconButton, Loading } from "@/ui";
import { Transcript } from "@/ui/transcript";
import { errorOf, runs } from "@/app/launch-end";
import { programOf } from "@/app/program-of";
import { LaunchBadge, endWords } from "@/views/logs/ends";
import { Lines } from "@/views/logs/lines";
import { lineAt, linesWith, stepped } from "@/views/logs/searching";
import { Tools, type Looks } from "@/views/logs/tools";

interface PaneProps {
  launchId: string;
  projectId: string;
  back: () => void;
}

export function LogPane({ launchId, projectId, back }: PaneProps) {
  const { t } = useTranslation("logs");
  const output = useOutput(launchId);
  const { text, page, error } = output;
  const items = useItems(output);
  const { pos } = useSearch();
  const place = useMemo(() => lineAt(output, pos), [output, pos]);
  const [looks, setLooks] = useState<Looks>({ raw: false, wrap: true, filter: "all", following: pos === undefined });
  const [words, setWords] = useState("");
  const [current, setCurrent] = useState(0);
  const lines = useMemo(() => readable(text).replace(/\n$/, "").split("\n"), [text]);
  const found = useMemo(() => linesWith(lines, words), [lines, words]);
  if (page === null) return error === null ? <Loading /> : <Failed error={error} />;
  const change = (next: Partial<Looks>) => setLooks((known) => ({ ...known, ...next }));
  const search = (next: string) => {
    setWords(next);
    setCurrent(0);
    change(next === "" ? {} : { following: false, filter: "all" }); // it shows the first match at once
  };
  const step = (by: 1 | -1) => {
    change({ following: false });
    setCurrent(stepped(current, found.length, by));
  };
  const line = found[current] ?? (words === "" && !looks.following ? place : null);
  return (
    <>
      <Facts page={page} projectId={projectId} back={back} />
      <Tools
        {...{ looks, words, current, change, search, step }}
        found={found.length}
        plain={isPlain(output)}
        download={() => download(launchId, text)}
      />
      {page.removed !== undefined && <p className="bg-sunken px-4 py-2 text-[13px] text-soft">{page.removed}</p>}
      {text === "" && page.removed === undefined ? (
        <p className="p-4 text-soft">{t(page.ended ? "empty" : "waiting")}</p>
      ) : looks.raw ? (
        <Lines
          {...{ lines, words }}
          wrap={looks.wrap}
          following={looks.following}
          current={line}
          onScrolled={(following) => change({ following })}
        />
      ) : (
        <Transcript
          {...{ items, words }}
          lives={!page.ended}
          filter={looks.filter}
          current={line === null ? null : { line, text: lines[line] ?? "" }}
          following={looks.following}
          onFollow={(following) => change({ following })}
          className="flex-1"
        />
      )}
    </>
  );
}

function Facts({ page, projectId, back }: { page: LogPage; projectId: string; back: () => void }) {
  const { t } = useTranslation("logs");
  const { launch } = page;
  const names = useNames(projectId);
  const error = errorOf(launch);
  const ended = endWords(launch, t);
  return (
    <header className="space-y-1 border-b border-line px-2 py-2 md:px-4">
      <div className="flex min-w-0 items-center gap-2">
        <IconButton label={t("back")} className="md:hidden" onClick={back}>
          <ArrowLeft size={18} />
        </IconButton>
        <h2 className="truncate font-semibold">{names.agent(launch.agent_id)}</h2>
        <LaunchBadge launch={launch} />
        {launch.task_id !== null && (
          <Link to="/t/$taskId" params={{ taskId: launch.task_id }} className="min-w-0 truncate link">
            {names.task(launch.task_id)}
          </Link>
        )}
        <span className="ml-auto hidden shrink-0 text-xs text-faint sm:inline">{programOf(launch)}</span>
      </div>
      <p className="flex flex-wrap gap-x-4 text-xs text-soft">
        <span>
          {t("duration")} <Elapsed from={launch.ordered_at} to={launch.ended_at} />
        </span>
        {ended && <span className={error === null ? "" : "text-red"}>{ended}</span>}
        <Used usage={launch.usage} />
      </p>
      {runs(launch) && <DoingOf launch={launch.launch_id} mayWait={launch.purpose === "chat"} />}
      {error !== null && error.words && <p className="text-[13px] break-words text-red">{error.words}</p>}
    </header>
  );
}

function Used({ usage }: { usage: LaunchUsage | null }) {
  const { t, i18n } = useTranslation("logs");
  if (usage?.input_tokens === undefined) return null;
  const number = (count = 0) => count.toLocaleString(i18n.language);
  const cost = usage.cost_usd ?? null;
  const unknown = usage.lower_bound === true && !usage.input_tokens && !usage.output_tokens;
  return (
    <span className="tabular-nums">
      {usage.lower_bound === true && !unknown && `${t("atLeast")} `}
      {unknown
        ? t("notKnown")
        : t("tokens", { input: number(usage.input_tokens), output: number(usage.output_tokens) })}
      {usage.cached_tokens ? t("cached", { cached: number(usage.cached_tokens) }) : ""} ·{" "}
      {cost === null ? t("noPrice") : `$${cost.toFixed(cost >= 0.1 ? 2 : 4)}`}
    </span>
  );
}

function download(launchId: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${launchId}.log`;
  link.click();
  URL.revokeObjectURL(address);
}
