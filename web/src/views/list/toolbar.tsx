// Above the list: the filter, and which columns there are.
import { Check, Columns3 } from "lucide-react";

import type { Agent, BoardTask } from "@/api/model";
import { FilterBar, useTaskFacets } from "@/app/filter";
import { useTranslation } from "@/i18n/use-words";
import { Button, Menu, MenuItem } from "@/ui";

import { WIDTHS } from "./columns";
import { EVERYTHING, type Filter } from "./filter";

interface ToolbarProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  agents: readonly Agent[];
  tasks: readonly BoardTask[];
  visible: Record<string, boolean>;
  onShow: (column: string, shown: boolean) => void;
  found: number;
}

export function Toolbar({ filter, onFilter, agents, tasks, visible, onShow, found }: ToolbarProps) {
  const { t } = useTranslation("list");
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <FilterBar
        facets={useTaskFacets({ filter, onFilter, agents, tasks })}
        search={{ text: filter.text, onText: (text) => onFilter({ ...filter, text }), label: t("search") }}
        onClear={() => onFilter(EVERYTHING)}
        found={t("found", { count: found, total: tasks.length })}
      />
      <span className="hidden sm:inline">
        <Columns visible={visible} onShow={onShow} />
      </span>
    </div>
  );
}

function Columns({ visible, onShow }: { visible: Record<string, boolean>; onShow: ToolbarProps["onShow"] }) {
  const { t } = useTranslation("list");
  return (
    <Menu
      trigger={
        <Button small look="quiet">
          <Columns3 size={14} aria-hidden />
          {t("columns")}
        </Button>
      }
    >
      {Object.keys(WIDTHS)
        .filter((each) => each !== "title")
        .map((each) => (
          <MenuItem key={each} onSelect={() => onShow(each, visible[each] === false)}>
            {t(`column.${each}` as "column.status")}
            {visible[each] !== false && <Check size={14} className="ml-auto" aria-label="✓" />}
          </MenuItem>
        ))}
    </Menu>
  );
}
