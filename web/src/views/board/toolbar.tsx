// What the board shows and how: the filter, lanes, and the button for a new task. All of it stands in the address.
import { Check, Plus, Rows3 } from "lucide-react";
import type { RefObject } from "react";

import { EVERYTHING, written, type Filter } from "@/api/filter";
import type { Agent, BoardTask } from "@/api/model";
import { FilterBar, useTaskFacets } from "@/app/filter";
import { useWrites } from "@/app/may";
import { newTask } from "@/app/overlays";
import { useTranslation } from "@/i18n/use-words";
import { Button, Kbd, Menu, MenuItem } from "@/ui";
import { BYS, type By } from "@/views/board/lanes";

interface ToolbarProps {
  projectId: string;
  filter: Filter;
  by: By;
  shown: number;
  tasks: readonly BoardTask[];
  agents: readonly Agent[];
  field: RefObject<HTMLInputElement | null>;
  onFilter: (filter: Filter) => void;
  onBy: (by: By) => void;
}

export function Toolbar({ projectId, filter, by, shown, tasks, agents, field, onFilter, onBy }: ToolbarProps) {
  const { t } = useTranslation("board");
  const writes = useWrites();
  const facets = useTaskFacets({ filter, onFilter, agents, tasks });
  const narrowed = written(filter) !== undefined;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 px-3 pt-3 pb-2">
      <FilterBar
        facets={facets}
        search={{ text: filter.text, onText: (text) => onFilter({ ...filter, text }), label: t("search") }}
        field={field}
        onClear={() => onFilter(EVERYTHING)}
        found={narrowed ? t("count", { count: shown, total: tasks.length }) : undefined}
      >
        <Menu
          align="start"
          trigger={
            <Button small look="quiet" className="h-8" aria-label={`${t("lanes")}: ${t(`by.${by}`)}`}>
              <Rows3 size={14} aria-hidden />
              {t(`by.${by}`)}
            </Button>
          }
        >
          {BYS.map((each) => (
            <MenuItem key={each} onSelect={() => onBy(each)}>
              {t(`by.${each}`)}
              {each === by && <Check size={14} className="ml-auto" aria-label="✓" />}
            </MenuItem>
          ))}
        </Menu>
      </FilterBar>
      {writes && (
        <Button small look="primary" className="ml-auto h-8" onClick={() => newTask({ projectId })}>
          <Plus size={15} aria-hidden />
          <span className="max-sm:sr-only">{t("newTask.title")}</span>
          <span aria-hidden className="max-sm:hidden">
            <Kbd>n</Kbd>
          </span>
        </Button>
      )}
    </div>
  );
}
