// The face of a card: its title, who has it and what it has taken so far, what it does now, and what is off.
//
// Hundreds are drawn during scrolling: no hook but where a card has something rare to say.
import { Activity, Check, Link2, ListTree, LoaderCircle, RotateCcw, UserCheck, X, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { anyone } from "@/ui";
import { isFinal, standing, type BoardTask } from "@/api/model";
import { DoingOf } from "@/app/doing-of";
import { usePast } from "@/app/past/past";
import { language, type TFunction } from "@/i18n/words";
import { Avatar, Elapsed, PriorityIcon, Told, duration, money } from "@/ui";

interface FaceProps {
  card: BoardTask;
  who: string | null;
  t: TFunction;
  carried?: boolean;
  marked?: boolean;
}

export function Face({ card, who, t, carried = false, marked = false }: FaceProps) {
  const closed = isFinal(card);
  const edge = marked ? "border-accent bg-accent-soft" : `bg-panel ${card.running ? "border-blue/50" : "border-line"}`;
  return (
    <article
      className={`relative space-y-1.5 rounded-lg border p-2.5 transition-shadow ${edge} ${carried ? "rotate-1 shadow-[var(--shadow)]" : "hover:border-line-strong hover:shadow-sm"}`}
    >
      <div className="flex items-start gap-2 [&>svg]:mt-0.5">
        <PriorityIcon priority={card.priority} />
        <p
          title={card.title}
          className={`line-clamp-2 min-w-0 flex-1 leading-snug break-words ${closed ? "text-soft" : ""}`}
        >
          {card.title}
        </p>
        {marked && (
          <span className="absolute -top-1.5 -left-1.5 flex size-4 items-center justify-center rounded-full bg-accent text-accent-ink">
            <Check size={12} aria-hidden />
            <span className="sr-only">{t("marked")}</span>
          </span>
        )}
      </div>
      <Signs card={card} who={who} t={t} />
      {card.running && (
        <div className="h-4">
          <DoingOf task={card.task_id} />
        </div>
      )}
      {card.status === "blocked" && card.blocked_reason !== null && (
        <Warning tone="border-amber text-amber" words={card.blocked_reason}>
          <Told text={card.blocked_reason} />
        </Warning>
      )}
      {card.approval === "pending_approval" && <Warning tone="border-amber text-amber" words={t("approval.pending")} />}
      {card.changes_requested !== null && <Warning tone="border-violet text-violet" words={t("sentBack")} />}
      {card.approval === "rejected" && <Warning tone="border-red text-red" words={t("approval.rejected")} />}
    </article>
  );
}

/** One line beside a coloured edge: what keeps the task from going on. */
function Warning({ tone, words, children }: { tone: string; words: string; children?: ReactNode }) {
  return (
    <p title={words} className={`truncate border-l-2 pl-2 text-xs ${tone}`}>
      {children ?? words}
    </p>
  );
}

/** Who has it, for how long, for how much, with how many lines; and the small signs. */
function Signs({ card, who, t }: { card: BoardTask; who: string | null; t: TFunction }) {
  const name = who ?? anyone(card, t) ?? card.agent_type;
  const { cost_usd: cost, insertions, deletions, waits_for: waits, attempt } = card;
  const { children, children_done: done } = card;
  if (name === null && !hasSigns(card)) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-faint">
      {name !== null && (
        <span title={name} className="inline-flex max-w-full min-w-0 items-center gap-1.5 text-soft">
          <Avatar id={card.assignee_id ?? name} name={name} size={16} />
          <span className="truncate">{name}</span>
        </span>
      )}
      {card.running && (
        <Sign words={t("running")} tone="animate-pulse text-blue">
          <Activity size={13} aria-hidden />
        </Sign>
      )}
      <Lasted card={card} t={t} />
      {cost !== null && cost > 0 && (
        <Sign words={t("cost")}>
          <span>{money(cost)}</span>
        </Sign>
      )}
      {insertions !== null && deletions !== null && (
        <Sign words={t("lines", { added: insertions, removed: deletions })}>
          <span aria-hidden>
            <span className="text-green">+{insertions}</span> <span className="text-red">−{deletions}</span>
          </span>
        </Sign>
      )}
      <Checked card={card} t={t} />
      {children > 0 && (
        <Sign words={t("children", { done, all: children })}>
          <ListTree size={13} aria-hidden />
          <span aria-hidden>
            {done}/{children}
          </span>
        </Sign>
      )}
      {waits > 0 && (
        <Sign words={t("waits", { count: waits })}>
          <Link2 size={13} aria-hidden />
          <span aria-hidden>{waits}</span>
        </Sign>
      )}
      {attempt > 1 && (
        <Sign words={t("attempt", { count: attempt })}>
          <RotateCcw size={12} aria-hidden />
          <span aria-hidden>{attempt}</span>
        </Sign>
      )}
    </div>
  );
}

/** Whether it has more to say below its title than who has it. */
export function hasSigns(card: BoardTask): boolean {
  const timed = card.started_at !== null && (card.status === "in_progress" || card.completed_at !== null);
  const linked = card.children > 0 || card.waits_for > 0;
  const measured = (card.cost_usd ?? 0) > 0 || card.insertions !== null;
  const judged = card.checks !== "none" || card.in_review || card.merged;
  return card.running || timed || linked || measured || judged || card.attempt > 1;
}

function Lasted({ card: { status, started_at: from, completed_at: to }, t }: { card: BoardTask; t: TFunction }) {
  const past = usePast().at;
  if (from === null || (status !== "in_progress" && to === null)) return null;
  return (
    <Sign words={t("lasted")}>
      {to === null && past === null ? (
        <Elapsed from={from} />
      ) : (
        duration((to === null ? (past ?? 0) : Date.parse(to)) - Date.parse(from), language())
      )}
    </Sign>
  );
}

const CHECKED: Record<string, [icon: LucideIcon, tone: string]> = {
  passed: [Check, "text-green"],
  failed: [X, "text-red"],
  running: [LoaderCircle, "text-blue"],
  in_review: [UserCheck, "text-blue"],
  merged: [Check, "text-violet"],
};

/** How its work stands: in review, merged, or how its checks ended. */
function Checked({ card, t }: { card: BoardTask; t: TFunction }) {
  const stands = card.in_review || card.merged ? standing(card) : card.checks;
  const known = CHECKED[stands];
  if (known === undefined) return null;
  const [Icon, tone] = known;
  const of = stands === "in_review" || stands === "merged" ? "status" : "checks";
  return (
    <Sign words={t(`${of}.${stands}`, { ns: of === "status" ? "translation" : "board" })} tone={tone}>
      <Icon size={14} aria-hidden />
    </Sign>
  );
}

function Sign({ words, tone = "", children }: { words: string; tone?: string; children: ReactNode }) {
  return (
    <span title={words} className={`inline-flex items-center gap-1 whitespace-nowrap tabular-nums ${tone}`}>
      {children}
      <span className="sr-only">{words}</span>
    </span>
  );
}
