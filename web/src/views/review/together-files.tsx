// The files of a combined diff, one below the other: those in which tasks overlap first.
import { useCallback, useMemo, useState } from "react";

import type { CombinedDiff, CombinedFile } from "@/api/model";
import { useKeys } from "@/app/keys";
import { useTranslation } from "@/i18n/use-words";
import { openAtFirst } from "@/views/review/files";
import { Layout, useLayout } from "@/views/review/layout";
import { CHANGES, go } from "@/views/review/moving";
import { TogetherFile } from "@/views/review/together-file";

interface FilesProps {
  diff: CombinedDiff;
  titleOf: (taskId: string) => string;
  context: number;
  setContext: (lines: number) => void;
}

export function TogetherFiles({ diff, titleOf, context, setContext }: FilesProps) {
  const { t } = useTranslation("review");
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const open = useMemo(() => openAtFirst(diff.files.map(summed)), [diff]);
  const layout = useLayout(context, setContext);
  const onOpen = useCallback(
    (path: string, is: boolean) => setTurned((known) => new Map(known).set(path, is)),
    [setTurned],
  );
  useKeys([
    { key: "j", words: t("keys.nextFile"), run: () => go("file", 1) },
    { key: "k", words: t("keys.previousFile"), run: () => go("file", -1) },
    { key: "n", words: t("keys.nextChange"), run: () => go("change", 1) },
    { key: "p", words: t("keys.previousChange"), run: () => go("change", -1) },
  ]);
  if (diff.files.length === 0) return null;
  const overlapping = diff.files.filter((each) => each.overlap !== null).length;
  return (
    <div id={CHANGES} className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="flex-1 text-[13px] text-soft">
          {overlapping > 0 ? t("together.overlapping", { count: overlapping }) : t("together.noOverlap")}
        </p>
        <Layout layout={layout} />
      </div>
      {diff.truncated && <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("together.truncated")}</p>}
      {diff.files.map((each) => (
        <TogetherFile
          key={each.path}
          file={each}
          titleOf={titleOf}
          split={layout.split}
          open={turned.get(each.path) ?? open.has(each.path)}
          onOpen={onOpen}
        />
      ))}
      {diff.files_in_all > diff.files.length && (
        <p className="text-soft">{t("moreFiles", { count: diff.files_in_all - diff.files.length })}</p>
      )}
    </div>
  );
}

function summed(file: CombinedFile): { path: string; insertions: number; deletions: number } {
  const sum = (what: "insertions" | "deletions") => file.changes.reduce((all, each) => all + each[what], 0);
  return { path: file.path, insertions: sum("insertions"), deletions: sum("deletions") };
}
