// One file that several tasks may have changed: who, how they meet in it, and each hunk with its tasks.
import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useMemo } from "react";

import type { CombinedFile } from "@/api/model";
import { TaskChip } from "@/app/task-chip";
import { useTranslation } from "@/i18n/use-words";
import { Badge, visible, type Tone } from "@/ui";
import { NOBODY } from "@/views/review/commenting";
import { Mode, placeOf } from "@/views/review/file";
import { Figures } from "@/views/review/figures";
import { Hunks } from "@/views/review/hunks";
import { Meetings } from "@/views/review/meeting";
import { hunksOf, modeOf } from "@/views/review/patch";

interface FileProps {
  file: CombinedFile;
  titleOf: (taskId: string) => string;
  split: boolean;
  open: boolean;
  onOpen: (path: string, open: boolean) => void;
}

const TONE: Partial<Record<NonNullable<CombinedFile["overlap"]>, Tone>> = { conflict: "red", unknown: "amber" };

export const TogetherFile = memo(function TogetherFile({ file, titleOf, split, open, onOpen }: FileProps) {
  const { t } = useTranslation("review");
  const Sign = open ? ChevronDown : ChevronRight;
  const sum = (what: "insertions" | "deletions") => file.changes.reduce((all, each) => all + each[what], 0);
  return (
    <section
      id={placeOf(file.path)}
      aria-label={file.path}
      className="scroll-mt-2 overflow-clip rounded-lg border border-line bg-panel [contain-intrinsic-size:auto_400px] [content-visibility:auto] sm:scroll-mt-15"
    >
      <h2 className="sticky top-0 z-10 border-b border-line bg-sunken sm:top-13">
        <button
          type="button"
          data-file
          aria-expanded={open}
          onClick={() => onOpen(file.path, !open)}
          className="flex min-h-10 w-full items-center gap-2 px-3 py-1.5 text-left"
        >
          <Sign size={15} aria-hidden className="shrink-0 text-soft" />
          <bdi className="min-w-0 flex-1 font-mono text-[13px] font-medium break-all">{visible(file.path)}</bdi>
          {file.overlap !== null && (
            <Badge tone={TONE[file.overlap] ?? "plain"}>{t(`together.overlap.${file.overlap}`)}</Badge>
          )}
          <Figures insertions={sum("insertions")} deletions={sum("deletions")} />
        </button>
      </h2>
      <Meetings all={file.meetings} titleOf={titleOf} />
      {open && <Content file={file} split={split} />}
    </section>
  );
});

function Content({ file, split }: { file: CombinedFile; split: boolean }) {
  const { t } = useTranslation("review");
  const hunks = useMemo(
    () => file.hunks.flatMap((each) => hunksOf(each.text).map((hunk) => ({ hunk, tasks: each.task_ids }))),
    [file],
  );
  const shown = useMemo(() => hunks.map((each) => each.hunk), [hunks]);
  const silent = file.changes.filter(
    (each) =>
      each.cut ||
      each.binary ||
      each.old_path !== null ||
      each.insertions + each.deletions === 0 ||
      modeOf(each.head) !== null,
  );
  return (
    <>
      {silent.map((each) => (
        <p
          key={each.task_id}
          className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2 text-[13px] text-soft"
        >
          <TaskChip taskId={each.task_id} />
          {each.old_path !== null
            ? t("together.renamed", { from: visible(each.old_path), to: visible(each.path) })
            : each.binary
              ? t("binary")
              : each.cut
                ? t("cut")
                : each.insertions + each.deletions === 0 && t("unchanged")}
          <Mode piece={each.head} />
        </p>
      ))}
      {shown.length > 0 && (
        <Hunks
          path={file.path}
          hunks={shown}
          split={split}
          commenting={NOBODY}
          about={(place) => hunks[place]?.tasks.map((each) => <TaskChip key={each} taskId={each} />)}
        />
      )}
    </>
  );
}
