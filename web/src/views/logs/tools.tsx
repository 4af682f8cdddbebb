// What one does with a log: search, filter, show it as it was printed, follow, download.
import { ArrowDownToLine, ChevronDown, ChevronUp, Download, WrapText } from "lucide-react";

import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui";
import type { Filter } from "@/ui/transcript";

const FILTERS: readonly Filter[] = ["all", "words", "calls", "errors"];

export interface Looks {
  raw: boolean;
  wrap: boolean;
  filter: Filter;
  following: boolean;
}

interface ToolsProps {
  looks: Looks;
  words: string;
  found: number;
  current: number;
  /** Of a plain program there are no calls to be chosen. */
  plain: boolean;
  change: (looks: Partial<Looks>) => void;
  search: (words: string) => void;
  step: (by: 1 | -1) => void;
  download: () => void;
}

export function Tools({ looks, words, found, current, plain, change, search, step, download }: ToolsProps) {
  const { t } = useTranslation("logs");
  const { raw, wrap, filter, following } = looks;
  return (
    <div className="flex flex-wrap items-center gap-1 border-b border-line px-2 py-1.5 md:px-3">
      <input
        type="search"
        aria-label={t("search")}
        placeholder={t("search")}
        value={words}
        className="h-8 min-w-32 flex-1 basis-full rounded-md md:basis-0 border border-line-strong bg-panel px-2.5 placeholder:text-faint"
        onChange={(event) => search(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && step(event.shiftKey ? -1 : 1)}
      />
      {words !== "" && (
        <>
          <span role="status" className="px-1 text-xs text-soft tabular-nums">
            {found === 0 ? t("noMatches") : t("matches", { current: current + 1, count: found })}
          </span>
          <IconButton label={t("previous")} onClick={() => step(-1)}>
            <ChevronUp size={16} />
          </IconButton>
          <IconButton label={t("next")} onClick={() => step(1)}>
            <ChevronDown size={16} />
          </IconButton>
        </>
      )}
      {!raw && !plain && (
        <div role="group" aria-label={t("show")} className="flex overflow-hidden rounded-md border border-line-strong">
          {FILTERS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === filter}
              onClick={() => change({ filter: each })}
              className={`h-8 border-l border-line px-2 text-[13px] first:border-l-0 ${each === filter ? "bg-sunken font-medium text-ink" : "text-soft hover:bg-sunken/60"}`}
            >
              {t(`filter.${each}`)}
            </button>
          ))}
        </div>
      )}
      <button
        type="button"
        aria-pressed={raw}
        title={t("rawHelp")}
        onClick={() => change({ raw: !raw })}
        className={`h-8 rounded-md border border-line-strong px-2 text-[13px] ${raw ? "bg-sunken font-medium text-ink" : "text-soft hover:bg-sunken/60"}`}
      >
        {t("raw")}
      </button>
      {raw && (
        <Toggle label={t("wrap")} on={wrap} onClick={() => change({ wrap: !wrap })}>
          <WrapText size={16} />
        </Toggle>
      )}
      <Toggle
        label={following ? t("following") : t("follow")}
        on={following}
        onClick={() => change({ following: !following })}
      >
        <ArrowDownToLine size={16} />
      </Toggle>
      <IconButton label={t("download")} onClick={download}>
        <Download size={16} />
      </IconButton>
    </div>
  );
}

function Toggle(props: { label: string; on: boolean; onClick: () => void; children: React.ReactNode }) {
  return (
    <IconButton
      label={props.label}
      aria-pressed={props.on}
      className={`size-8 ${props.on ? "bg-sunken text-ink" : ""}`}
      onClick={props.onClick}
    >
      {props.children}
    </IconButton>
  );
}
