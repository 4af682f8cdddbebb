// Marks: a status, a priority, a state. Never by colour alone: each has its own sign and its word.
import type { BoardTask } from "@/api/model";
import type { TFunction } from "@/i18n/words";
import {
  Ban,
  Circle,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleX,
  ChevronsUp,
  ChevronUp,
  ChevronDown,
  Equal,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";

import type { Member, Priority, TaskStatus } from "@/api/model";
import { useWords } from "@/i18n/use-words";

export type Tone = "plain" | "blue" | "green" | "amber" | "red" | "violet" | "accent";

const SOFT: Record<Tone, string> = {
  plain: "bg-sunken text-soft",
  blue: "bg-blue-soft text-blue",
  green: "bg-green-soft text-green",
  amber: "bg-amber-soft text-amber",
  red: "bg-red-soft text-red",
  violet: "bg-violet-soft text-violet",
  accent: "bg-accent-soft text-accent",
};
const TEXT: Record<Tone, string> = {
  plain: "text-faint",
  blue: "text-blue",
  green: "text-green",
  amber: "text-amber",
  red: "text-red",
  violet: "text-violet",
  accent: "text-accent",
};

interface BadgeProps {
  tone?: Tone;
  /** It may hold words that somebody chose. */
  wraps?: boolean;
  children: ReactNode;
}

export function Badge({ tone = "plain", wraps = false, children }: BadgeProps) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium ${wraps ? "min-w-0 wrap-anywhere" : "shrink-0 whitespace-nowrap"} ${SOFT[tone]}`}
    >
      {children}
    </span>
  );
}

const STATUS: Record<TaskStatus, { icon: LucideIcon; tone: Tone }> = {
  backlog: { icon: CircleDashed, tone: "plain" },
  todo: { icon: Circle, tone: "plain" },
  in_progress: { icon: CircleDot, tone: "blue" },
  blocked: { icon: CircleAlert, tone: "amber" },
  completed: { icon: CircleCheck, tone: "green" },
  failed: { icon: CircleX, tone: "red" },
  cancelled: { icon: Ban, tone: "plain" },
};

export function StatusIcon({ status, size = 16 }: { status: TaskStatus; size?: number }) {
  const t = useWords();
  const { icon: Icon, tone } = STATUS[status];
  return <Icon size={size} className={`shrink-0 ${TEXT[tone]}`} aria-label={t(`status.${status}`)} role="img" />;
}

export function StatusBadge({ status }: { status: TaskStatus }) {
  const t = useWords();
  const { icon: Icon, tone } = STATUS[status];
  return (
    <Badge tone={tone}>
      <Icon size={13} aria-hidden />
      {t(`status.${status}`)}
    </Badge>
  );
}

const PRIORITY: Record<Priority, { icon: LucideIcon; tone: Tone }> = {
  critical: { icon: ChevronsUp, tone: "red" },
  high: { icon: ChevronUp, tone: "amber" },
  medium: { icon: Equal, tone: "plain" },
  low: { icon: ChevronDown, tone: "plain" },
};

export function PriorityIcon({ priority }: { priority: Priority }) {
  const t = useWords();
  const { icon: Icon, tone } = PRIORITY[priority];
  return <Icon size={15} className={`shrink-0 ${TEXT[tone]}`} aria-label={t(`priority.${priority}`)} role="img" />;
}

const STATE: Record<Member["state"], { tone: Tone; pulse?: boolean }> = {
  working: { tone: "blue", pulse: true },
  talking: { tone: "violet", pulse: true },
  starting: { tone: "accent", pulse: true },
  stopping: { tone: "amber" },
  waiting: { tone: "plain" },
  cooling_down: { tone: "amber" },
  held: { tone: "amber" },
  idle: { tone: "plain" },
  off: { tone: "plain" },
};

export function AgentState({ state }: { state: Member["state"] }) {
  const t = useWords();
  const { tone, pulse } = STATE[state];
  return (
    <Badge tone={tone}>
      <span className={`size-1.5 rounded-full bg-current ${pulse ? "animate-pulse" : ""}`} aria-hidden />
      {t(`state.${state}`)}
    </Badge>
  );
}

/** Two letters on a colour of its own: the same for the same id everywhere. They are a picture, no text: a button that
 * shows them is not called by them. */
export function Avatar({ id, name, size = 22 }: { id: string; name: string; size?: number }) {
  const { background, letters } = look(id, name);
  return (
    <span
      aria-hidden
      data-letters={letters}
      className="inline-flex shrink-0 items-center justify-center rounded-full font-semibold text-white select-none before:content-[attr(data-letters)]"
      style={{ width: size, height: size, fontSize: size * 0.42, background }}
    />
  );
}

const looks = new Map<string, { background: string; letters: string }>();

/** Thought of once: a board shows the same few faces a thousand times. */
function look(id: string, name: string) {
  const key = `${id}\n${name}`;
  const known = looks.get(key);
  if (known !== undefined) return known;
  const hue = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7);
  const found = { background: `hsl(${hue} 42% 32%)`, letters: initials(name || id) };
  looks.set(key, found);
  return found;
}

/** Of the words that begin with a letter or a digit: `Hana (lead)` is `HL`. What has none is taken as it is. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words.slice(0, 2).map(first) : [...(words[0] ?? name)].slice(0, 2);
  return letters.join("").toUpperCase();
}

function first(word: string): string {
  return [...word][0] ?? "";
}

/** How a task is given to anyone who is free. */
export const ANYONE = "any";

/** Who a task goes to that has no assignee yet: anyone who is free, with which capabilities. */
export function anyone(task: Pick<BoardTask, "assignee_id" | "pool">, t: TFunction): string | null {
  if (task.assignee_id !== null || task.pool === undefined) return null;
  const { capabilities: words } = task.pool;
  return words.length === 0 ? t("app.anyone") : `${t("app.anyone")} (${words.join(", ")})`;
}
