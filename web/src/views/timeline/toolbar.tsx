// What is seen: the filter, as on the board; how much time; back to now, and one request by its id.
import { Crosshair, Search } from "lucide-react";
import { useState } from "react";

import { EVERYTHING, written, type Filter } from "@/api/filter";
import type { Agent, BoardTask } from "@/api/model";
import { FilterBar, useTaskFacets } from "@/app/filter";
import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";

import { ZOOMS, type Zoom } from "./scale";

interface ToolbarProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  agents: readonly Agent[];
  tasks: readonly BoardTask[];
  /** How many of the tasks are shown. */
  shown: number;
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  onNow: () => void;
  onTrace: (id: string) => void;
}

const CHOICES = ["fit", ...(Object.keys(ZOOMS) as (keyof typeof ZOOMS)[])] as const;

export function Toolbar(given: ToolbarProps) {
  const { filter, onFilter, agents, tasks, shown, zoom, onZoom, onNow, onTrace } = given;
  const { t } = useTranslation("timeline");
  const [id, setId] = useState("");
  const narrowed = written(filter) !== undefined;
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <FilterBar
        facets={useTaskFacets({ filter, onFilter, agents, tasks })}
        search={{ text: filter.text, onText: (text) => onFilter({ ...filter, text }), label: t("search") }}
        onClear={() => onFilter(EVERYTHING)}
        found={narrowed ? t("found", { count: shown, total: tasks.length }) : undefined}
      />
      <div
        role="group"
        aria-label={t("zoom.label")}
        className="flex rounded-md border border-line-strong bg-panel p-0.5"
      >
        {CHOICES.map((each) => (
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
