// One changed file: its head, and its lines once it is open. Lines of a closed file are not even read.
import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useMemo } from "react";

import type { FileChange } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { visible } from "@/ui";
import { Figures } from "@/views/review/figures";
import { useCommenting } from "@/views/review/commenting";
import type { Comment, Comments } from "@/views/review/comments";
import { Hunks } from "@/views/review/hunks";
import { hunksOf, modeOf } from "@/views/review/patch";

interface FileProps {
  change: FileChange;
  piece: string | undefined;
  split: boolean;
  open: boolean;
  onOpen: (path: string, open: boolean) => void;
  comments: readonly Comment[];
  commentary: Pick<Comments, "put" | "drop" | "place"> | null;
  viewed: boolean;
  onViewed: (path: string, is: boolean) => void;
}

export const File = memo(function File(given: FileProps) {
  const { change, piece, split, open, onOpen, comments, commentary, viewed, onViewed } = given;
  const { t } = useTranslation("review");
  const Sign = open ? ChevronDown : ChevronRight;
  return (
    <section
      id={placeOf(change.path)}
      aria-label={change.path}
      className="scroll-mt-2 sm:scroll-mt-15 overflow-clip rounded-lg border border-line bg-panel [contain-intrinsic-size:auto_400px] [content-visibility:auto]"
    >
      <div className="sticky top-0 z-10 flex items-center gap-2 border-b border-line bg-sunken pr-3 sm:top-13">
        <h2 className="min-w-0 flex-1">
          <button
            type="button"
            data-file
            aria-expanded={open}
            onClick={() => onOpen(change.path, !open)}
            className="flex min-h-10 w-full items-center gap-2 px-3 py-1.5 text-left"
          >
            <Sign size={15} aria-hidden className="shrink-0 text-soft" />
            <span className="min-w-0 flex-1 font-mono text-[13px] font-medium break-all">
              <bdi>{visible(change.path)}</bdi>
              {change.old_path !== null && (
                <span className="ml-2 font-sans text-xs font-normal text-soft">
                  {t("renamed", { path: visible(change.old_path) })}
                </span>
              )}
              <Mode piece={piece} />
            </span>
            {comments.length > 0 && (
              <span className="rounded bg-accent-soft px-1.5 text-xs font-medium text-accent">{comments.length}</span>
            )}
            <span className="hidden text-xs font-normal text-soft sm:inline">{t(`change.${change.status}`)}</span>
            <Figures insertions={change.insertions} deletions={change.deletions} />
          </button>
        </h2>
        <label className="flex min-h-8 cursor-pointer items-center gap-1.5 text-xs whitespace-nowrap text-soft">
          <input
            type="checkbox"
            data-viewed
            className="size-4 accent-[var(--accent)]"
            checked={viewed}
            aria-label={t("viewed.mark", { path: change.path })}
            onChange={(event) => onViewed(change.path, event.target.checked)}
          />
          <span aria-hidden>{t("viewed.is")}</span>
        </label>
      </div>
      {open && <Content {...{ change, piece, split, comments, commentary }} />}
    </section>
  );
});

/** That a file may be executed now, or that it is a link, is not in its lines. */
export function Mode({ piece = "" }: { piece?: string | undefined }) {
  const { t } = useTranslation("review");
  const mode = modeOf(piece);
  if (mode === null) return null;
  return (
    <span className="ml-2 font-sans text-xs font-normal text-amber">
      {"is" in mode ? t(`fileMode.${mode.is}`) : t("fileMode.changed", mode)}
    </span>
  );
}

export const placeOf = (path: string): string => `file-${path}`;

function Content({
  change,
  piece,
  split,
  comments,
  commentary,
}: Omit<FileProps, "open" | "onOpen" | "viewed" | "onViewed">) {
  const { t } = useTranslation("review");
  const hunks = useMemo(() => hunksOf(piece ?? ""), [piece]);
  const commenting = useCommenting(change.path, hunks, comments, commentary);
  if (hunks.length > 0) return <Hunks path={change.path} {...{ hunks, split, commenting }} />;
  const why = piece === undefined ? "cut" : change.binary ? "binary" : "unchanged";
  return <p className="px-4 py-3 text-soft">{t(why)}</p>;
}
