// The hunks of one file as a table: as many lines as one looks at, in the colours of their language.
import { useMemo, useState, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";
import { useColours } from "@/views/review/colours";
import { Lines, type Commenting } from "@/views/review/lines";
import type { Hunk } from "@/views/review/patch";

/** How many lines are shown at once. */
const A_PORTION = 600;

interface HunksProps {
  path: string;
  hunks: readonly Hunk[];
  split: boolean;
  commenting: Commenting;
  /** What stands on the head of a hunk besides its place. */
  about?: (place: number) => ReactNode;
}

export function Hunks({ path, hunks, split, commenting, about }: HunksProps) {
  const { t } = useTranslation("review");
  const [portion, setPortion] = useState(A_PORTION);
  const { shown, left } = useMemo(() => firstOf(hunks, portion), [hunks, portion]);
  return (
    <>
      <table className="w-full table-fixed border-collapse font-mono text-[12.5px] leading-[1.55]">
        <Columns split={split} />
        {shown.map((hunk, place) => (
          <Shown key={place} {...{ path, hunk, split, commenting }} about={about?.(place)} />
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

interface ShownProps extends Omit<HunksProps, "hunks" | "about"> {
  hunk: Hunk;
  about: ReactNode;
}

function Shown({ path, hunk, split, commenting, about }: ShownProps) {
  const { t } = useTranslation("review");
  const colours = useColours(hunk.lines, path);
  return (
    <>
      <tbody>
        <tr className="bg-sunken/60 text-xs text-faint">
          <td colSpan={split ? 6 : 4} title={hunk.range} className="px-3 py-0.5">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
              {about}
              <span className="min-w-0 truncate">
                {hunk.where || t(hunk.span.from === hunk.span.to ? "hunkLine" : "hunk", hunk.span)}
              </span>
            </span>
          </td>
        </tr>
      </tbody>
      <tbody>
        <Lines lines={hunk.lines} {...{ split, commenting, colours }} />
      </tbody>
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
