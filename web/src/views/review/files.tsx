// The changed files, one below the other: small ones open, large ones and those far below closed until one looks.
import { Columns2, Rows2 } from "lucide-react";
import { useCallback, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import type { Diff, FileChange } from "@/api/model";
import { useKeys } from "@/app/keys";
import { Button } from "@/ui";
import type { Comment, Comments } from "@/views/review/comments";
import { File, Figures, placeOf } from "@/views/review/file";
import { CHANGES, go, press } from "@/views/review/moving";
import { piecesOf } from "@/views/review/patch";

/** Maximum number of changed lines that are open at first: in total, and in one file. */
const OPEN_LINES = 1500;
const OPEN_IN_ONE = 500;
const NONE: readonly Comment[] = [];

export function Files({ diff, comments, writes }: { diff: Diff; comments: Comments; writes: boolean }) {
  const { t } = useTranslation("review");
  const pieces = useMemo(() => piecesOf(diff.patch, diff.files), [diff]);
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const open = useMemo(() => openAtFirst(diff.files), [diff]);
  const [split, wide, turn] = useMode();
  const onOpen = useCallback(
    (path: string, is: boolean) => setTurned((known) => new Map(known).set(path, is)),
    [setTurned],
  );
  const byFile = useMemo(() => grouped(comments.all), [comments.all]);
  useKeys([
    { key: "j", words: t("keys.nextFile"), run: () => go("file", 1) },
    { key: "k", words: t("keys.previousFile"), run: () => go("file", -1) },
    { key: "n", words: t("keys.nextChange"), run: () => go("change", 1) },
    { key: "p", words: t("keys.previousChange"), run: () => go("change", -1) },
    ...(writes ? [{ key: "c", words: t("keys.comment"), run: press }] : []),
    { key: "u", words: t("keys.mode"), run: turn },
  ]);
  return (
    <div className="flex items-start gap-4">
      <nav aria-label={t("list")} className="sticky top-0 hidden max-h-[80vh] w-64 shrink-0 overflow-auto lg:block">
        <ul>
          {diff.files.map((each) => (
            <li key={each.path}>
              <Listed change={each} onGo={() => onOpen(each.path, true)} />
            </li>
          ))}
        </ul>
      </nav>
      <div id={CHANGES} className="min-w-0 flex-1 space-y-3">
        {wide && (
          <div className="flex justify-end">
            <Button small look="quiet" onClick={turn}>
              {split ? <Rows2 size={14} aria-hidden /> : <Columns2 size={14} aria-hidden />}
              {t(split ? "mode.unified" : "mode.split")}
            </Button>
          </div>
        )}
        {diff.truncated && <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("truncated")}</p>}
        {diff.files.map((each, place) => (
          <File
            key={each.path}
            change={each}
            piece={pieces[place]}
            split={split}
            open={turned.get(each.path) ?? open.has(each.path)}
            onOpen={onOpen}
            comments={byFile.get(each.path) ?? NONE}
            commentary={writes ? comments : null}
          />
        ))}
        {diff.files_in_all > diff.files.length && (
          <p className="text-soft">{t("moreFiles", { count: diff.files_in_all - diff.files.length })}</p>
        )}
      </div>
    </div>
  );
}

function Listed({ change, onGo }: { change: FileChange; onGo: () => void }) {
  const cut = change.path.lastIndexOf("/") + 1;
  function go() {
    onGo();
    document.getElementById(placeOf(change.path))?.scrollIntoView({ block: "start" });
  }
  return (
    <button
      type="button"
      onClick={go}
      title={change.path}
      className="flex w-full items-baseline gap-2 rounded-md px-2 py-1 text-left hover:bg-sunken"
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate">{change.path.slice(cut)}</span>
        {cut > 0 && <span className="block truncate text-xs text-faint">{change.path.slice(0, cut - 1)}</span>}
      </span>
      <Figures insertions={change.insertions} deletions={change.deletions} />
    </button>
  );
}

function grouped(all: readonly Comment[]): Map<string, Comment[]> {
  const found = new Map<string, Comment[]>();
  for (const each of all) found.set(each.path, [...(found.get(each.path) ?? []), each]);
  return found;
}

function openAtFirst(files: readonly FileChange[]): Set<string> {
  let room = OPEN_LINES;
  const open = files.filter((each) => {
    const lines = each.insertions + each.deletions;
    if (lines > OPEN_IN_ONE || lines > room) return false;
    room -= lines;
    return true;
  });
  return new Set(open.map((each) => each.path));
}

const KEPT = "toryo.review.split";
const WIDE = "(min-width: 1000px)";

/** Side by side where it is wanted and there is room. */
function useMode(): [split: boolean, wide: boolean, turn: () => void] {
  const [wanted, setWanted] = useState(() => localStorage.getItem(KEPT) === "yes");
  const wide = useSyncExternalStore(hearWidth, () => window.matchMedia(WIDE).matches);
  const turn = () => {
    localStorage.setItem(KEPT, wanted ? "no" : "yes");
    setWanted(!wanted);
  };
  return [wanted && wide, wide, turn];
}

function hearWidth(changed: () => void): () => void {
  const query = window.matchMedia(WIDE);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
