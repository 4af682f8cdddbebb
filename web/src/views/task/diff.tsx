// What a task has changed in its worktree, as its Coordinator tells it when one asks. Line by line is the review.
import { useQuery } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";

import { Refused } from "@/api/client";
import type { Diff, Task } from "@/api/model";
import { diff } from "@/api/diffs";
import { worktree } from "@/api/queries";
import { PullRequestLink } from "@/app/pull-request";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Button, Empty, Failed, Loading, Told } from "@/ui";

const MOST_LINES = 1500;

export function DiffTab({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const known = useQuery(worktree(task.task_id));
  const asked = useQuery({ ...diff(task.task_id), enabled: false, retry: false });
  if (known.isPending) return <Loading />;
  if (known.error instanceof Refused && known.error.problem.status === 404)
    return (
      <Empty icon={<GitBranch size={24} aria-hidden />} title={t("diff.none")}>
        <p>
          <Told text={known.error.problem.detail} />
        </p>
        <p>
          <Told text={known.error.problem.instruction} />
        </p>
      </Empty>
    );
  if (known.isError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  const { branch, state, insertions, deletions, files_changed: files, trouble, pull_request: opened } = known.data;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <code data-branch className="min-w-0 truncate font-mono text-[13px]">
          {branch}
        </code>
        <Badge tone={state === "open" ? "blue" : "plain"}>{t(`diff.state.${state}`, { defaultValue: state })}</Badge>
        {opened !== null && <PullRequestLink of={opened} />}
        <Counted insertions={insertions} deletions={deletions} />
        <span className="text-xs text-faint">{t("diff.files", { count: files })}</span>
        <Link
          to="/p/$projectId/review/$taskId"
          params={{ projectId: task.project_id, taskId: task.task_id }}
          className="ml-auto text-[13px] link"
        >
          {t("diff.review")}
        </Link>
      </div>
      {trouble !== null && <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{trouble}</p>}
      {asked.data === undefined && state !== "discarded" && (
        <Button disabled={asked.isFetching} onClick={() => void asked.refetch()}>
          {t(asked.isFetching ? "diff.asking" : "diff.ask")}
        </Button>
      )}
      {asked.isError && <Failed error={asked.error} retry={() => void asked.refetch()} />}
      {asked.data !== undefined && <Patch diff={asked.data} />}
    </div>
  );
}

function Counted({ insertions, deletions }: { insertions: number; deletions: number }) {
  return (
    <span className="font-mono text-xs tabular-nums">
      <span className="text-green">+{insertions}</span> <span className="text-red">−{deletions}</span>
    </span>
  );
}

function Patch({ diff: { files, patch, truncated } }: { diff: Diff }) {
  const { t } = useTranslation("task");
  const lines = patch.split("\n");
  if (files.length === 0) return <p className="py-4 text-soft">{t("diff.nothing")}</p>;
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {files.map((each) => (
          <li key={each.path} className="flex items-center gap-3 px-3 py-1.5">
            <code className="min-w-0 flex-1 truncate font-mono text-[13px]" title={each.path}>
              {each.path}
            </code>
            {each.binary ? <Badge>{t("diff.binary")}</Badge> : <Counted {...each} />}
          </li>
        ))}
      </ul>
      <pre className="max-h-[60vh] overflow-auto rounded-lg border border-line py-2 font-mono text-[12.5px] leading-relaxed">
        {lines.slice(0, MOST_LINES).map((line, place) => (
          <div key={place} className={`px-3 ${lookOf(line)}`}>
            {line || " "}
          </div>
        ))}
      </pre>
      {(truncated || lines.length > MOST_LINES) && <p className="text-xs text-faint">{t("diff.cut")}</p>}
    </>
  );
}

function lookOf(line: string): string {
  if (/^(diff|index|---|\+\+\+|new|deleted|similarity|rename)/.test(line)) return "text-faint";
  if (line.startsWith("@@")) return "bg-sunken text-soft";
  if (line.startsWith("+")) return "bg-green-soft";
  if (line.startsWith("-")) return "bg-red-soft";
  return "";
}
