// What the board shows and how: words, assignee, priority, lanes. All of it stands in the address.
import { Plus, Search, X } from "lucide-react";
import type { RefObject, SelectHTMLAttributes } from "react";
import { useTranslation } from "react-i18next";

import { EVERYTHING, NOBODY, PRIORITIES, type Filter } from "@/api/filter";
import { useWrites } from "@/app/may";
import { newTask } from "@/app/overlays";
import { Button, IconButton, Kbd } from "@/ui";
import { BYS, type By } from "@/views/board/lanes";

interface ToolbarProps {
  projectId: string;
  filter: Filter;
  by: By;
  shown: number;
  total: number;
  assignees: { id: string; name: string }[];
  field: RefObject<HTMLInputElement | null>;
  onFilter: (filter: Filter) => void;
  onBy: (by: By) => void;
}

export function Toolbar({ projectId, filter, by, shown, total, assignees, field, onFilter, onBy }: ToolbarProps) {
  const { t } = useTranslation("board");
  const writes = useWrites();
  const filtered = filter.text !== "" || filter.assignee.length + filter.priority.length + filter.status.length > 0;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 px-3 pt-3 pb-2">
      <div className="relative min-w-0 flex-1 basis-48 sm:max-w-72">
        <Search size={14} className="absolute top-2.5 left-2.5 text-faint" aria-hidden />
        <input
          ref={field}
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          value={filter.text}
          onChange={(event) => onFilter({ ...filter, text: event.target.value })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          className="h-8 w-full rounded-md border border-line-strong bg-panel pr-2 pl-8 placeholder:text-faint"
        />
      </div>
      <Select
        aria-label={t("assignee")}
        value={filter.assignee[0] ?? ""}
        onChange={(event) => onFilter({ ...filter, assignee: event.target.value === "" ? [] : [event.target.value] })}
      >
        <option value="">{t("anybody")}</option>
        <option value={NOBODY}>{t("app.nobody")}</option>
        {assignees.map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("priority")}
        value={filter.priority[0] ?? ""}
        onChange={(event) =>
          onFilter({ ...filter, priority: PRIORITIES.filter((each) => each === event.target.value) })
        }
      >
        <option value="">{t("anyPriority")}</option>
        {PRIORITIES.map((each) => (
          <option key={each} value={each}>
            {t(`priority.${each}`)}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("lanes")}
        value={by}
        onChange={(event) => onBy(BYS.find((each) => each === event.target.value) ?? "none")}
      >
        {BYS.map((each) => (
          <option key={each} value={each}>
            {t(`by.${each}`)}
          </option>
        ))}
      </Select>
      {filtered && (
        <span className="inline-flex items-center text-xs text-faint tabular-nums" role="status">
          {t("count", { count: shown, total })}
          <IconButton label={t("clear")} className="size-7" onClick={() => onFilter(EVERYTHING)}>
            <X size={14} />
          </IconButton>
        </span>
      )}
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

function Select(given: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select
      {...given}
      className={`h-8 max-w-40 min-w-0 rounded-md border bg-panel px-2 ${given.value === "" || given.value === "none" ? "border-line-strong text-soft" : "border-accent text-ink"}`}
    />
  );
}
