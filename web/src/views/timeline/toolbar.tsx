// How much time is seen, back to now, the past, and one request by its id.
import { Crosshair, History, Search } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "@/ui";

import { ZOOMS, type Zoom } from "./scale";

interface ToolbarProps {
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  onNow: () => void;
  replaying: boolean;
  onReplay: () => void;
  onTrace: (id: string) => void;
}

export function Toolbar({ zoom, onZoom, onNow, replaying, onReplay, onTrace }: ToolbarProps) {
  const { t } = useTranslation("timeline");
  const [id, setId] = useState("");
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <div
        role="group"
        aria-label={t("zoom.label")}
        className="flex rounded-md border border-line-strong bg-panel p-0.5"
      >
        {(Object.keys(ZOOMS) as Zoom[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={zoom === each}
            onClick={() => onZoom(each)}
            className="h-7 rounded px-2.5 text-[13px] text-soft hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          >
            {t(`zoom.${each}`)}
          </button>
        ))}
      </div>
      <Button small onClick={onNow}>
        <Crosshair size={14} aria-hidden />
        {t("toNow")}
      </Button>
      <Button
        small
        onClick={onReplay}
        aria-pressed={replaying}
        className="aria-pressed:border-accent aria-pressed:text-accent"
      >
        <History size={14} aria-hidden />
        {t("past")}
      </Button>
      <form
        className="relative ml-auto w-full sm:w-64"
        onSubmit={(event) => {
          event.preventDefault();
          if (id.trim() !== "") onTrace(id.trim());
        }}
      >
        <Search size={14} aria-hidden className="absolute top-2.5 left-2.5 text-faint" />
        <input
          type="search"
          value={id}
          onChange={(event) => setId(event.target.value)}
          aria-label={t("traceById")}
          placeholder={t("traceById")}
          className="h-8 w-full rounded-md border border-line-strong bg-panel pr-2 pl-8 placeholder:text-faint"
        />
      </form>
    </div>
  );
}
