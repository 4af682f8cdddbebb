// The changed files, one below the other: small ones open, large ones and those far below closed until one looks.
import { useCallback, useMemo, useState } from "react";

import type { Diff, FileChange } from "@/api/model";
import { useKeys } from "@/app/keys";
import { useTranslation } from "@/i18n/use-words";
import type { Comment, Comments } from "@/views/review/comments";
import { File, placeOf } from "@/views/review/file";
import { FileTree } from "@/views/review/file-tree";
import { Layout, useLayout } from "@/views/review/layout";
import { CHANGES, go, press } from "@/views/review/moving";
import { piecesOf } from "@/views/review/patch";
import { useViewed } from "@/views/review/viewed";

/** Maximum number of changed lines that are open at first: in total, and in one file. */
const OPEN_LINES = 1500;
const OPEN_IN_ONE = 500;
const NONE: readonly Comment[] = [];

interface FilesProps {
  taskId: string;
  diff: Diff;
  comments: Comments;
  writes: boolean;
  context: number;
  setContext: (lines: number) => void;
}

export function Files({ taskId, diff, comments, writes, context, setContext }: FilesProps) {
  const { t } = useTranslation("review");
  const pieces = useMemo(() => piecesOf(diff.patch, diff.files), [diff]);
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const open = useMemo(() => openAtFirst(diff.files), [diff]);
  const layout = useLayout(context, setContext);
  const onOpen = useCallback(
    (path: string, is: boolean) => setTurned((known) => new Map(known).set(path, is)),
    [setTurned],
  );
  const viewed = useViewed(taskId, diff.files, pieces);
  const { put } = viewed;
  const onViewed = useCallback(
    (path: string, is: boolean) => {
      put(path, is);
      onOpen(path, !is); // what was viewed makes room
    },
    [put, onOpen],
  );
  const byFile = useMemo(() => grouped(comments.all), [comments.all]);
  useKeys([
    { key: "j", words: t("keys.nextFile"), run: () => go("file", 1) },
    { key: "k", words: t("keys.previousFile"), run: () => go("file", -1) },
    { key: "n", words: t("keys.nextChange"), run: () => go("change", 1) },
    { key: "p", words: t("keys.previousChange"), run: () => go("change", -1) },
    ...(writes ? [{ key: "c", words: t("keys.comment"), run: () => press("line") }] : []),
    { key: "v", words: t("keys.viewed"), run: () => press("viewed") },
  ]);
  return (
    <div className="flex items-start gap-4">
      <FileTree
        files={diff.files}
        viewed={viewed}
        comments={(path) => byFile.get(path)?.length ?? 0}
        onGo={(path) => {
          onOpen(path, true);
          document.getElementById(placeOf(path))?.scrollIntoView({ block: "start" });
        }}
      />
      <div id={CHANGES} className="min-w-0 flex-1 space-y-3">
        <Layout layout={layout} />
        {diff.truncated && <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("truncated")}</p>}
        {diff.files.map((each, place) => (
          <File
            key={each.path}
            change={each}
            piece={pieces[place]}
            split={layout.split}
            open={turned.get(each.path) ?? (open.has(each.path) && !viewed.has(each.path))}
            viewed={viewed.has(each.path)}
            onViewed={onViewed}
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

function grouped(all: readonly Comment[]): Map<string, Comment[]> {
  const found = new Map<string, Comment[]>();
  for (const each of all) found.set(each.path, [...(found.get(each.path) ?? []), each]);
  return found;
}

export function openAtFirst(files: readonly Pick<FileChange, "path" | "insertions" | "deletions">[]): Set<string> {
  let room = OPEN_LINES;
  const open = files.filter((each) => {
    const lines = each.insertions + each.deletions;
    if (lines > OPEN_IN_ONE || lines > room) return false;
    room -= lines;
    return true;
  });
  return new Set(open.map((each) => each.path));
}
