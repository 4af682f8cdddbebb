// One changed file: its head, and its lines once it is open. Lines of a closed file are not even read.
import { ChevronDown, ChevronRight } from "lucide-react";
import { Fragment, memo, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { FileChange } from "@/api/model";
import { Button } from "@/ui";
import { keyOf, type Comment, type Comments } from "@/views/review/comments";
import { Lines, type Commenting } from "@/views/review/lines";
import { hunksOf, type Hunk, type Line } from "@/views/review/patch";
import { Kept, Writing } from "@/views/review/remark";

/** How many lines are shown at once. */
const A_PORTION = 600;

interface FileProps {
  change: FileChange;
  piece: string | undefined;
  split: boolean;
  open: boolean;
  onOpen: (path: string, open: boolean) => void;
  comments: readonly Comment[];
  commentary: Pick<Comments, "put" | "drop"> | null;
}

export const File = memo(function File({ change, piece, split, open, onOpen, comments, commentary }: FileProps) {
  const { t } = useTranslation("review");
  const Sign = open ? ChevronDown : ChevronRight;
  return (
    <section
      id={placeOf(change.path)}
      aria-label={change.path}
      className="scroll-mt-2 overflow-clip rounded-lg border border-line bg-panel [contain-intrinsic-size:auto_400px] [content-visibility:auto]"
    >
      <h2 className="sticky top-0 z-10 border-b border-line bg-sunken">
        <button
          type="button"
          data-file
          aria-expanded={open}
          onClick={() => onOpen(change.path, !open)}
          className="flex min-h-10 w-full items-center gap-2 px-3 py-1.5 text-left"
        >
          <Sign size={15} aria-hidden className="shrink-0 text-soft" />
          <span className="min-w-0 flex-1 font-mono text-[13px] font-medium break-all">
            {change.path}
            {change.old_path !== null && (
              <span className="ml-2 font-sans text-xs font-normal text-soft">
                {t("renamed", { path: change.old_path })}
              </span>
            )}
          </span>
          {comments.length > 0 && (
            <span className="rounded bg-accent-soft px-1.5 text-xs font-medium text-accent">{comments.length}</span>
          )}
          <span className="text-xs font-normal text-soft">{t(`change.${change.status}`)}</span>
          <Figures insertions={change.insertions} deletions={change.deletions} />
        </button>
      </h2>
      {open && <Content {...{ change, piece, split, comments, commentary }} />}
    </section>
  );
});

export const placeOf = (path: string): string => `file-${path}`;

export function Figures({ insertions, deletions }: { insertions: number; deletions: number }) {
  const { t } = useTranslation("review");
  return (
    <span className="shrink-0 text-xs font-medium tabular-nums">
      <span className="text-green" title={t("added", { count: insertions })}>
        +{insertions}
      </span>{" "}
      <span className="text-red" title={t("removed", { count: deletions })}>
        −{deletions}
      </span>
    </span>
  );
}

function Content({ change, piece, split, comments, commentary }: Omit<FileProps, "open" | "onOpen">) {
  const { t } = useTranslation("review");
  const hunks = useMemo(() => hunksOf(piece ?? ""), [piece]);
  const [portion, setPortion] = useState(A_PORTION);
  const commenting = useCommenting(change.path, comments, commentary);
  const { shown, left } = firstOf(hunks, portion);
  if (hunks.length === 0) {
    const why = piece === undefined ? "cut" : change.binary ? "binary" : "unchanged";
    return <p className="px-4 py-3 text-soft">{t(why)}</p>;
  }
  return (
    <>
      <table className="w-full table-fixed border-collapse font-mono text-[12.5px] leading-[1.55]">
        <Columns split={split} />
        {shown.map((hunk, place) => (
          <Fragment key={place}>
            <tbody>
              <tr className="bg-blue-soft text-xs text-blue">
                <td colSpan={split ? 6 : 4} className="truncate px-3 py-0.5">
                  @@ {hunk.range} @@ {hunk.where}
                </td>
              </tr>
            </tbody>
            <tbody>
              <Lines lines={hunk.lines} split={split} commenting={commenting} />
            </tbody>
          </Fragment>
        ))}
      </table>
      {left > 0 && (
        <div className="border-t border-line p-2 text-center">
          <Button small onClick={() => setPortion((known) => known + 4 * A_PORTION)}>
            {t("moreLines", { count: left })}
          </Button>
        </div>
      )}
    </>
  );
}

function Columns({ split }: { split: boolean }) {
  const half = [<col key="n" className="w-11" />, <col key="m" className="w-6" />, <col key="c" />];
  if (!split)
    return (
      <colgroup>
        <col className="w-11" />
        <col className="w-11" />
        <col className="w-6" />
        <col />
      </colgroup>
    );
  return (
    <>
      <colgroup>{half}</colgroup>
      <colgroup>{half}</colgroup>
    </>
  );
}

function firstOf(hunks: readonly Hunk[], most: number): { shown: Hunk[]; left: number } {
  const all = hunks.reduce((sum, each) => sum + each.lines.length, 0);
  const shown: Hunk[] = [];
  let room = most;
  for (const each of hunks) {
    if (room <= 0) break;
    shown.push(each.lines.length <= room ? each : { ...each, lines: each.lines.slice(0, room) });
    room -= each.lines.length;
  }
  return { shown, left: Math.max(0, all - most) };
}

/** One comment is written at a time in a file; those that are kept stand below their lines. */
function useCommenting(path: string, kept: readonly Comment[], how: FileProps["commentary"]): Commenting {
  const [writing, setWriting] = useState<Comment | null>(null);
  const byKey = useMemo(() => new Map(kept.map((each) => [keyOf(each), each])), [kept]);
  if (how === null) return { start: null, below: () => null };
  const start = (side: Comment["side"], line: Line) => {
    const wanted = { path, side, line: line.now ?? line.old ?? 0, quote: line.text, text: "" };
    setWriting(byKey.get(keyOf(wanted)) ?? wanted);
  };
  const below = (side: Comment["side"], line: number) => {
    const key = keyOf({ path, side, line });
    const known = byKey.get(key);
    if (writing !== null && keyOf(writing) === key)
      return (
        <Writing
          text={writing.text}
          onClose={() => setWriting(null)}
          onKeep={(text) => {
            how.put({ ...writing, text });
            setWriting(null);
          }}
        />
      );
    return known && <Kept text={known.text} onEdit={() => setWriting(known)} onDrop={() => how.drop(known)} />;
  };
  return { start, below };
}
