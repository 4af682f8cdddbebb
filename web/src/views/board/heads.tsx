// The heads of the columns: name, count, and what folds a column to a rail or opens it again.
import { FoldHorizontal } from "lucide-react";

import { STATUSES, type TaskStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { IconButton, StatusIcon } from "@/ui";

interface HeadsProps {
  counts: number[];
  columns: string;
  hidden: Map<TaskStatus, number>;
  folded: ReadonlySet<TaskStatus>;
  onFold: (status: TaskStatus) => void;
}

export function Heads({ counts, columns, hidden, folded, onFold }: HeadsProps) {
  const { t } = useTranslation("board");
  const said = (status: TaskStatus, count: number) => {
    const more = hidden.get(status) ?? 0;
    return more === 0 ? count : t("older.of", { count, total: count + more });
  };
  return (
    <div className="sticky top-0 z-20 grid shrink-0 gap-2 bg-paper" style={{ gridTemplateColumns: columns }}>
      {STATUSES.map((status, place) => {
        const name = t(`status.${status}`);
        const count = said(status, counts[place] ?? 0);
        return folded.has(status) ? (
          <h2 key={status} className="flex h-9 items-center justify-center">
            <IconButton
              label={t("unfold", { status: name, count })}
              aria-expanded={false}

              onClick={() => onFold(status)}
            >
              <StatusIcon status={status} size={15} />
            </IconButton>
          </h2>
        ) : (
          <h2 key={status} className="group flex h-9 min-w-0 items-center gap-2 pl-2 text-[13px] font-medium">
            <StatusIcon status={status} size={15} />
            <span aria-hidden className="truncate">
              {name}
            </span>
            <span className="text-faint tabular-nums">{count}</span>
            <IconButton
              label={t("fold", { status: name })}
              aria-expanded
              small
              className="ml-auto shrink-0 opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
              onClick={() => onFold(status)}
            >
              <FoldHorizontal size={14} />
            </IconButton>
          </h2>
        );
      })}
    </div>
  );
}
