// How a row looks: its sign, and the colour of its bar. The words beside it say the same.
import {
  CircleCheck,
  CirclePause,
  CirclePlay,
  CircleStop,
  CircleX,
  Clock,
  GitMerge,
  KeyRound,
  ListChecks,
  ListTree,
  LoaderCircle,
  MessagesSquare,
  Milestone,
  Play,
  Share2,
  Wrench,
  type LucideIcon,
} from "lucide-react";

import type { Row } from "./rows";
import { stateOf } from "./words-of";

export interface LooksLike {
  icon: LucideIcon;
  /** Of the sign. */
  tone: string;
  /** Of the bar. */
  bar: string;
}

const plain = (icon: LucideIcon, tone = "text-faint", bar = "bg-line-strong"): LooksLike => ({ icon, tone, bar });
const HATCHED = "bg-[repeating-linear-gradient(135deg,var(--amber)_0_3px,var(--amber-soft)_3px_7px)]";

const DECIDED = {
  start: plain(CirclePlay, "text-green", "bg-green"),
  hold: plain(CirclePause, "text-amber", "bg-amber"),
  stop: plain(CircleStop, "text-red", "bg-red"),
};
const CHECKED = {
  running: plain(LoaderCircle, "text-blue", "bg-blue"),
  passed: plain(ListChecks, "text-green", "bg-green"),
  failed: plain(CircleX, "text-red", "bg-red"),
};
const EVENTS: Record<string, LooksLike> = {
  "task.completed": plain(CircleCheck, "text-green", "bg-green"),
  "task.failed": plain(CircleX, "text-red", "bg-red"),
  "worktree.merged": plain(GitMerge, "text-violet", "bg-violet"),
};

export function looksOf(row: Row): LooksLike {
  switch (row.kind) {
    case "task":
      return plain(ListTree, "text-soft", "bg-line-strong");
    case "wait":
      return plain(Clock, "text-amber", HATCHED);
    case "launch":
      return failed(row.launch) ? plain(Play, "text-red", "bg-red") : plain(Play, "text-blue", "bg-blue");
    case "session":
      return plain(KeyRound, "text-blue", "bg-blue/60");
    case "calls":
      return plain(Wrench, "text-soft", "bg-blue/40");
    case "attempt":
      return plain(Play, "text-blue", "bg-blue");
    case "decision":
      return DECIDED[row.decision.action];
    case "check":
      return CHECKED[stateOf(row.check.passed)];
    case "delegation":
      return plain(Share2, "text-violet", "bg-violet/60");
    case "talk":
      return plain(MessagesSquare, "text-violet", "bg-violet/60");
    case "event":
      return EVENTS[row.event.kind] ?? plain(Milestone);
  }
}

function failed({
  state,
  exit_error,
  exit_code,
}: {
  state: string;
  exit_error: string | null;
  exit_code: number | null;
}) {
  return state === "lost" || state === "expired" || exit_error !== null || (exit_code ?? 0) !== 0;
}
