// What waits for a review in a project: who did it, how much it is, for how long it waits, and what blocks a merge.
import { useQuery } from "@tanstack/react-query";
import { GitPullRequestArrow, TriangleAlert } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";

import type { Worktree } from "@/api/model";
import { agents, worktrees } from "@/api/queries";
import { useCursor, useKeys } from "@/app/keys";
import { Link, navigate, useParams } from "@/app/routing";
import { SentBack } from "@/app/sent-back";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Badge, Bar, Empty, Failed, Loading, Panel } from "@/ui";
import { Figures } from "@/views/review/figures";
import { Queue } from "@/views/review/queue";
import { GROUPS, inGroup } from "@/views/review/waiting";

export function Reviews() {
  const { t } = useTranslation("review");
  const { projectId = "" } = useParams();
  const found = useQuery(worktrees(projectId));
  return (
    <>
      <Bar title={t("title")} />
      {found.data !== undefined ? (
        <List projectId={projectId} all={found.data} />
      ) : found.error !== null ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading rows={6} />
      )}
    </>
  );
}

function List({ projectId, all }: { projectId: string; all: readonly Worktree[] }) {
  const { t } = useTranslation("review");
  const names = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
  const groups = names.map((name) => ({ name, rows: inGroup(all, name) })).filter((each) => each.rows.length > 0);
  const ids = groups.flatMap((each) => each.rows.map((row) => row.task_id));
  const { at, put } = useRows(projectId, ids);
  if (groups.length === 0)
    return (
      <>
        <div className="mx-auto max-w-5xl p-3 empty:hidden sm:p-5">
          <Queue projectId={projectId} />
        </div>
        <Empty icon={<GitPullRequestArrow size={28} aria-hidden />} title={t("list.none")}>
          {t("list.noneText")}
        </Empty>
      </>
    );
  return (
    <div className="mx-auto max-w-5xl space-y-4 p-3 sm:p-5">
      <Queue projectId={projectId} />
      {groups.map(({ name, rows }) => (
        <Panel key={name} title={t(`list.${name}`)} aside={<Badge>{rows.length}</Badge>}>
          <ul className="divide-y divide-line">
            {rows.map((each) => (
              <Row key={each.task_id} work={each} selected={each.task_id === at} onSelect={() => put(each.task_id)} />
            ))}
          </ul>
        </Panel>
      ))}
    </div>
  );
}

function useRows(projectId: string, ids: readonly string[]) {
  const { t } = useTranslation("review");
  const { at, put, step } = useCursor(ids, { first: true });
  const open = () => {
    if (at !== null) void navigate({ to: "/p/$projectId/review/$taskId", params: { projectId, taskId: at } });
  };
  useKeys([
    { key: "j", words: t("keys.nextReview"), run: () => step(1) },
    { key: "k", words: t("keys.previousReview"), run: () => step(-1) },
    { key: "Enter", words: t("keys.open"), run: open },
  ]);
  return { at, put };
}

interface RowProps {
  work: Worktree;
  selected: boolean;
  onSelect: () => void;
}

function Row({ work, selected, onSelect }: RowProps) {
  const { t } = useTranslation("review");
  const row = useRef<HTMLLIElement>(null);
  const known = useQuery(agents).data;
  const who = known?.find((each) => each.agent_id === work.assignee_id)?.name ?? work.assignee_id;
  useEffect(() => {
    if (selected) row.current?.scrollIntoView?.({ block: "nearest" });
  }, [selected]);
  return (
    <li
      ref={row}
      aria-current={selected}
      onPointerDown={onSelect}
      className={`border-l-2 px-4 py-2.5 ${selected ? "border-l-accent bg-sunken/50" : "border-l-transparent"}`}
    >
      <div className="flex items-center gap-3">
        <span className="w-6 shrink-0">
          {who !== null && <Avatar id={work.assignee_id ?? ""} name={who} size={24} />}
        </span>
        <div className="min-w-0 flex-1">
          <Link
            to="/p/$projectId/review/$taskId"
            params={{ projectId: work.project_id, taskId: work.task_id }}
            className="font-medium break-words hover:underline"
          >
            {work.title}
          </Link>
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
            {who !== null && <span>{who}</span>}
            <Ago at={work.updated_at} />
            <Standing work={work} />
          </p>
        </div>
        <span className="flex shrink-0 flex-col items-end gap-0.5 text-xs text-soft sm:flex-row sm:items-baseline sm:gap-3">
          <span>{t("files", { count: work.files_changed })}</span>
          <Figures insertions={work.insertions} deletions={work.deletions} />
        </span>
      </div>
    </li>
  );
}

function Standing({ work }: { work: Worktree }): ReactNode {
  const { t } = useTranslation("review");
  if (work.changes_requested !== null) return <SentBack changes={work.changes_requested} />;
  if (work.trouble !== null)
    return (
      <span title={work.trouble}>
        <Badge tone="amber">
          <TriangleAlert size={12} aria-hidden />
          {t("list.hindered")}
        </Badge>
      </span>
    );
  if (work.review === null || work.review === "to_review") return null;
  return <Badge>{t(`list.${work.review}`)}</Badge>;
}
