// A column that is folded: its name and how many cards are in it. Cards can be dropped on it; a click opens it.
import { Ban } from "lucide-react";

import type { TaskStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { useArea } from "@/views/board/areas";
import { verdictOf, type Shown } from "@/views/board/column";

interface RailProps {
  lane: string;
  status: TaskStatus;
  count: number;
  carried: Shown["carried"];
  onFold: (status: TaskStatus) => void;
  /** In lanes: as high as its lane, and only the count. */
  short?: boolean;
}

export function Rail({ lane, status, count, carried, onFold, short = false }: RailProps) {
  const { t } = useTranslation("board");
  const verdict = verdictOf(carried, status);
  return (
    <div
      ref={useArea(lane, status)}
      role="group"
      aria-label={t(`status.${status}`)}
      data-column={status}
      className={`relative flex min-h-16 min-w-0 flex-col rounded-lg bg-sunken/70 ${verdict.allowed ? "data-over:ring-2 data-over:ring-accent" : ""}`}
    >
      <button
        type="button"
        tabIndex={-1} // the head of the column has one for the keyboard
        aria-hidden
        onClick={() => onFold(status)}
        className="flex min-h-0 flex-1 flex-col items-center gap-2 rounded-lg py-3 text-xs text-faint hover:bg-sunken hover:text-ink"
      >
        <span className="tabular-nums">{count}</span>
        {!short && <span className="truncate [writing-mode:vertical-rl]">{t(`status.${status}`)}</span>}
      </button>
      {carried !== null && !verdict.allowed && (
        <div
          data-refused={status}
          title={verdict.reason ?? t("looking")}
          className="absolute inset-0 z-10 flex justify-center rounded-lg bg-sunken/95 pt-6"
        >
          <Ban size={18} className="text-faint" aria-hidden />
          <p className="sr-only">{verdict.reason ?? t("looking")}</p>
        </div>
      )}
    </div>
  );
}
