// What one decides about several tasks at once: to merge them. At the top, on a phone at the bottom, as the verdict of one.
import { GitMerge } from "lucide-react";
import { useState } from "react";

import type { CombinedDiff } from "@/api/model";
import { useKeys } from "@/app/keys";
import { useTranslation } from "@/i18n/use-words";
import { Button, Dialog, Form, useToast } from "@/ui";
import { Figures } from "@/views/review/figures";
import type { InOrder } from "@/views/review/merging-in-order";

interface MergeBarProps {
  diff: CombinedDiff;
  merging: InOrder;
  writes: boolean;
}

export function MergeBar({ diff, merging, writes }: MergeBarProps) {
  const { t } = useTranslation("review");
  const toast = useToast();
  const [asking, setAsking] = useState(false);
  const done = (is: string | undefined) => is === "merged" || is === "opened";
  const left = diff.order.filter((each) => !done(merging.steps.get(each.worktree.task_id)?.is));
  const clashes = left.some((each) => each.conflicts_with.length > 0);
  const may = writes && left.length > 0;
  const sum = (what: "insertions" | "deletions") => diff.order.reduce((all, each) => all + each.worktree[what], 0);
  const go = async () => {
    setAsking(false);
    const merged = await merging.merge(left.map((each) => each.worktree.task_id));
    if (merged === left.length) toast.done(t("together.done", { count: merged }));
  };
  useKeys(may ? [{ key: "a", words: t("together.merge", { count: left.length }), run: () => setAsking(true) }] : []);
  return (
    <div
      data-verdict
      className="sticky bottom-0 z-20 order-last flex min-h-13 items-center gap-3 border-t border-line bg-paper px-3 py-2 sm:top-0 sm:bottom-auto sm:order-first sm:border-t-0 sm:border-b sm:px-5"
    >
      <p className="flex min-w-0 flex-1 items-baseline gap-2">
        <span className="truncate font-semibold">{t("together.tasks", { count: diff.order.length })}</span>
        <span className="hidden text-xs whitespace-nowrap text-soft sm:inline">
          {t("files", { count: diff.files_in_all })}
        </span>
        <Figures insertions={sum("insertions")} deletions={sum("deletions")} />
      </p>
      {may && (
        <Button look="primary" disabled={merging.busy} onClick={() => setAsking(true)}>
          <GitMerge size={15} aria-hidden />
          {merging.busy ? t("merge.going") : t("together.merge", { count: left.length })}
        </Button>
      )}
      {asking && (
        <Sure count={left.length} clashes={clashes} onSure={() => void go()} onClose={() => setAsking(false)} />
      )}
    </div>
  );
}

interface SureProps {
  count: number;
  clashes: boolean;
  onSure: () => void;
  onClose: () => void;
}

function Sure({ count, clashes, onSure, onClose }: SureProps) {
  const { t } = useTranslation("review");
  useKeys([{ key: "Enter", words: t("merge.go"), inside: true, run: onSure }]);
  return (
    <Dialog open onClose={onClose} title={t("together.confirm.title", { count })}>
      <Form onSend={onSure} className="space-y-4">
        <p>{t("together.confirm.text")}</p>
        {clashes && <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("together.confirm.clashes")}</p>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="primary">
            {t("merge.go")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
