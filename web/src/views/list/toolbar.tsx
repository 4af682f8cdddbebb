// Above the list: words to look for, the filters, the columns.
import { Check, Columns3, ListFilter, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { STATUSES, type Agent } from "@/api/model";
import { Avatar, Button, Menu, MenuItem, PriorityIcon, StatusIcon } from "@/ui";

import { WIDTHS } from "./columns";
import { EVERYTHING, NOBODY, PRIORITIES, written, type Filter } from "./filter";

interface ToolbarProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  agents: readonly Agent[];
  visible: Record<string, boolean>;
  onShow: (column: string, shown: boolean) => void;
  found: number;
  total: number;
}

export function Toolbar({ filter, onFilter, agents, visible, onShow, found, total }: ToolbarProps) {
  const { t } = useTranslation("list");
  return (
    <div role="search" className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <input
        type="search"
        value={filter.text}
        aria-label={t("search")}
        placeholder={t("search")}
        onChange={(event) => onFilter({ ...filter, text: event.target.value.replace(/^\s+/, "") })}
        className="h-8 w-full min-w-0 rounded-md border border-line-strong bg-panel px-2.5 placeholder:text-faint sm:w-64"
      />
      <Choice
        name={t("filter.status")}
        chosen={filter.status}
        options={STATUSES.map((each) => ({
          value: each,
          words: t(`status.${each}`, { ns: "translation" }),
          sign: <StatusIcon status={each} />,
        }))}
        onChoose={(status) => onFilter({ ...filter, status })}
      />
      <Choice
        name={t("filter.assignee")}
        chosen={filter.assignee}
        options={[
          ...agents.map((each) => ({
            value: each.agent_id,
            words: each.name,
            sign: <Avatar id={each.agent_id} name={each.name} size={18} />,
          })),
          { value: NOBODY, words: t("nobody"), sign: null },
        ]}
        onChoose={(assignee) => onFilter({ ...filter, assignee })}
      />
      <Choice
        name={t("filter.priority")}
        chosen={filter.priority}
        options={PRIORITIES.map((each) => ({
          value: each,
          words: t(`priority.${each}`, { ns: "translation" }),
          sign: <PriorityIcon priority={each} />,
        }))}
        onChoose={(priority) => onFilter({ ...filter, priority })}
      />
      {written(filter) !== undefined && (
        <Button small look="quiet" onClick={() => onFilter(EVERYTHING)}>
          <X size={14} aria-hidden />
          {t("clear")}
        </Button>
      )}
      <span role="status" className="ml-auto text-xs text-faint tabular-nums">
        {t("found", { count: found, total })}
      </span>
      <span className="hidden sm:inline">
        <Columns visible={visible} onShow={onShow} />
      </span>
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  name: string;
  chosen: readonly Value[];
  options: readonly { value: Value; words: string; sign: React.ReactNode }[];
  onChoose: (chosen: Value[]) => void;
}

function Choice<Value extends string>({ name, chosen, options, onChoose }: ChoiceProps<Value>) {
  return (
    <Menu
      trigger={
        <Button small data-on={chosen.length > 0} className="data-[on=true]:border-accent data-[on=true]:text-accent">
          <ListFilter size={14} aria-hidden />
          {name}
          {chosen.length > 0 && <span className="tabular-nums">{chosen.length}</span>}
        </Button>
      }
    >
      <div className="max-h-80 overflow-auto">
        {options.map(({ value, words, sign }) => (
          <MenuItem
            key={value}
            onSelect={() =>
              onChoose(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
            }
          >
            <span aria-hidden className="flex w-5 justify-center">
              {sign}
            </span>
            {words}
            {chosen.includes(value) && <Check size={14} className="ml-auto" aria-label="✓" />}
          </MenuItem>
        ))}
      </div>
    </Menu>
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
