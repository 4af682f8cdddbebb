// One launch: what is known of it, its tools, and what it printed.
import { Link } from "@tanstack/react-router";
import { ArrowDownToLine, ArrowLeft, ChevronDown, ChevronUp, Download, WrapText } from "lucide-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { LaunchUsage, LogPage } from "@/api/model";
import { useNames } from "@/app/names";
import { readable, useOutput } from "@/app/output";
import { Elapsed, Failed, IconButton, Loading } from "@/ui";
import { LaunchBadge, endWords, errorOf } from "@/views/logs/ends";
import { Lines } from "@/views/logs/lines";
import { linesWith, stepped } from "@/views/logs/searching";

interface PaneProps {
  launchId: string;
  projectId: string;
  back: () => void;
}

export function LogPane({ launchId, projectId, back }: PaneProps) {
  const { t } = useTranslation("logs");
  const { text, page, error } = useOutput(launchId);
  const [wrap, setWrap] = useState(true);
  const [following, setFollowing] = useState(true);
  const [words, setWords] = useState("");
  const [current, setCurrent] = useState(0);
  const lines = useMemo(() => readable(text).replace(/\n$/, "").split("\n"), [text]);
  const found = useMemo(() => linesWith(lines, words), [lines, words]);
  if (page === null) return error === null ? <Loading /> : <Failed error={error} />;
  const step = (by: 1 | -1) => {
    setFollowing(false);
    setCurrent(stepped(current, found.length, by));
  };
  return (
    <>
      <Facts page={page} projectId={projectId} back={back} />
      <div className="flex flex-wrap items-center gap-1 border-b border-line px-2 py-1.5 md:px-3">
        <input
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          value={words}
          className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2.5 placeholder:text-faint"
          onChange={(event) => {
            setWords(event.target.value);
            setCurrent(0);
          }}
          onKeyDown={(event) => event.key === "Enter" && step(event.shiftKey ? -1 : 1)}
        />
        {words !== "" && (
          <>
            <span role="status" className="px-1 text-xs text-soft tabular-nums">
              {found.length === 0 ? t("noMatches") : t("matches", { current: current + 1, count: found.length })}
            </span>
            <IconButton label={t("previous")} className="size-8" onClick={() => step(-1)}>
              <ChevronUp size={16} />
            </IconButton>
            <IconButton label={t("next")} className="size-8" onClick={() => step(1)}>
              <ChevronDown size={16} />
            </IconButton>
          </>
        )}
        <IconButton
          label={t("wrap")}
          aria-pressed={wrap}
          className={`size-8 ${wrap ? "bg-sunken text-ink" : ""}`}
          onClick={() => setWrap(!wrap)}
        >
          <WrapText size={16} />
        </IconButton>
        <IconButton
          label={following ? t("following") : t("follow")}
          aria-pressed={following}
          className={`size-8 ${following ? "bg-sunken text-ink" : ""}`}
          onClick={() => setFollowing(!following)}
        >
          <ArrowDownToLine size={16} />
        </IconButton>
        <IconButton label={t("download")} className="size-8" onClick={() => download(launchId, text)}>
          <Download size={16} />
        </IconButton>
      </div>
      {page.removed !== undefined && <p className="bg-sunken px-4 py-2 text-[13px] text-soft">{page.removed}</p>}
      {text === "" && page.removed === undefined ? (
        <p className="p-4 text-soft">{t(page.ended ? "empty" : "waiting")}</p>
      ) : (
        <Lines
          {...{ lines, words, wrap, following }}
          current={found[current] ?? null}
          onScrolled={(bottom) => setFollowing(bottom)}
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
          <Link to="/t/$taskId" params={{ taskId: launch.task_id }} className="min-w-0 truncate text-accent underline">
            {names.task(launch.task_id)}
          </Link>
        )}
        <span className="ml-auto hidden shrink-0 text-xs text-faint sm:inline">
          {[launch.ai_type, launch.model].filter(Boolean).join(" · ")}
        </span>
      </div>
      <p className="flex flex-wrap gap-x-4 text-xs text-soft">
        <span>
          {t("duration")} <Elapsed from={launch.ordered_at} to={launch.ended_at} />
        </span>
        {ended && <span className={error === null ? "" : "text-red"}>{ended}</span>}
        <Used usage={launch.usage} />
      </p>
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
      {usage.cached_tokens ? ` (${t("cached", { cached: number(usage.cached_tokens) })})` : ""} ·{" "}
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
