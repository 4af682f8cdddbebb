// One line of what needs a person: what, who, why, for how long, what waits behind it, and what to do. It unfolds where
// the cursor stands: then the whole reason, and all that would be approved.
import {
  Ban,
  CalendarX,
  Clock,
  Coins,
  Eye,
  GitMerge,
  Link2Off,
  Lock,
  MessageCircle,
  MessageSquareText,
  OctagonAlert,
  PlugZap,
  ShieldQuestion,
  SquareCheckBig,
  Unplug,
  Webhook,
  Ellipsis,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useRef } from "react";

import type { Need } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { QuestionForm } from "@/app/question-form";
import { RequestTexts } from "@/app/request-texts";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Badge, Button, Copyable, IconButton, Kbd, Menu, MenuItem, Told, visible, type Tone } from "@/ui";
import type { Acting } from "@/views/home/acting";
import { actOf, offered, primary, subject, type May } from "@/views/home/acts";

const KINDS: Record<string, { icon: LucideIcon; tone: Tone }> = {
  approval: { icon: ShieldQuestion, tone: "amber" },
  question: { icon: MessageSquareText, tone: "amber" },
  blocked_by_guard: { icon: OctagonAlert, tone: "red" },
  blocked: { icon: Ban, tone: "amber" },
  message: { icon: MessageCircle, tone: "violet" },
  nobody_came: { icon: Unplug, tone: "amber" },
  delegation_failed: { icon: Unplug, tone: "red" },
  stuck: { icon: Link2Off, tone: "red" },
  stalled: { icon: Clock, tone: "amber" },
  failed: { icon: OctagonAlert, tone: "red" },
  dead_letter: { icon: OctagonAlert, tone: "red" },
  runaway: { icon: OctagonAlert, tone: "red" },
  merge_queue: { icon: GitMerge, tone: "amber" },
  review: { icon: Eye, tone: "blue" },
  schedule_stopped: { icon: CalendarX, tone: "red" },
  webhook_stopped: { icon: Webhook, tone: "red" },
  budget_used_up: { icon: Coins, tone: "amber" },
  agent_cannot_start: { icon: PlugZap, tone: "red" },
  sign_in_locked: { icon: Lock, tone: "amber" },
  task: { icon: SquareCheckBig, tone: "blue" },
};
const OTHER = { icon: Eye, tone: "plain" as const };

interface NeedRowProps {
  need: Need;
  who: string | null;
  selected: boolean;
  onSelect: () => void;
  acting: Acting;
  may: May;
}

export function NeedRow({ need, who, selected, onSelect, acting, may }: NeedRowProps) {
  const { t } = useTranslation("home");
  const row = useRef<HTMLLIElement>(null);
  const asked = useRef(false);
  const { icon: Icon, tone } = KINDS[need.kind] ?? OTHER;
  const behind = need.blocks ?? 0;
  useEffect(() => {
    if (!selected) return;
    row.current?.scrollIntoView?.({ block: "nearest" });
    if (asked.current) row.current?.querySelector<HTMLElement>("[data-main]")?.focus();
    asked.current = false;
  }, [selected]);
  return (
    <li
      ref={row}
      aria-current={selected}
      onPointerDown={onSelect}
      onFocus={onSelect}
      className={`border-l-2 px-3 ${selected ? "border-l-accent bg-sunken/50" : "border-l-transparent"}`}
    >
      <div className="flex min-h-11 flex-wrap items-center gap-x-2.5 gap-y-1 py-1.5 sm:h-11 sm:flex-nowrap sm:py-0">
        <Badge tone={tone}>
          <Icon size={13} aria-hidden />
          {t(KINDS[need.kind] === undefined ? "kind.other" : `kind.${need.kind}`)}
        </Badge>
        <Title need={need} wide={selected} />
        {who !== null && (
          <span className="inline-flex shrink-0 items-center gap-1.5 text-[13px] text-soft">
            <Avatar id={need.agent_id ?? ""} name={who} size={18} />
            <span className="max-w-24 truncate">{who}</span>
          </span>
        )}
        {!selected && (
          <p className="hidden min-w-0 flex-1 truncate text-[13px] text-soft sm:block">
            {need.request ? visible(need.request.description) : <Told text={need.text} />}
          </p>
        )}
        <span className="shrink-0 text-xs text-faint">
          {behind > 0 && <span title={t("behind", { count: behind })}>{t("behindShort", { count: behind })} · </span>}
          <Ago at={need.since} />
        </span>
        <Actions
          need={need}
          selected={selected}
          acting={acting}
          may={may}
          see={() => {
            asked.current = true;
            onSelect();
          }}
        />
      </div>
      {selected && <Unfolded need={need} may={may} />}
    </li>
  );
}

function Title({ need, wide }: { need: Need; wide: boolean }) {
  const openTask = useOpenTask();
  const look = `order-first w-full min-w-0 truncate font-medium sm:order-none sm:w-auto ${wide ? "sm:flex-1" : "sm:max-w-[45%]"}`;
  if (need.task_id === null)
    return (
      <p className={look} title={subject(need)}>
        {subject(need)}
      </p>
    );
  return (
    <button
      type="button"
      title={subject(need)}
      className={`${look} text-left hover:underline`}
      onClick={() => openTask(need.task_id)}
    >
      {subject(need)}
    </button>
  );
}

function Unfolded({ need, may }: Pick<NeedRowProps, "need" | "may">) {
  const { t } = useTranslation("home");
  const main = primary(need, may);
  return (
    <div className="space-y-1 pb-2.5 text-[13px]">
      {need.questions.length > 0 && need.task_id !== null ? (
        <QuestionForm taskId={need.task_id} questions={need.questions} keys />
      ) : need.request ? (
        <RequestTexts request={need.request} asker />
      ) : (
        <p className="break-words whitespace-pre-line text-soft">
          <Told text={need.text} />
        </p>
      )}
      {main !== undefined && actOf(need, main).how === "command" && (
        <p className="text-soft">
          {t("byHand")} <Copyable text={main.command} />
        </p>
      )}
    </div>
  );
}

interface ActionsProps extends Pick<NeedRowProps, "need" | "selected" | "acting" | "may"> {
  /** Unfolds the row, so that all is read before it is approved. */
  see: () => void;
}

function Actions({ need, selected, acting, may, see }: ActionsProps) {
  const { t } = useTranslation("home");
  const main = primary(need, may);
  const doable = offered(need, may).filter((each) => actOf(need, each).how !== "command");
  if (main === undefined || doable.length === 0) return null;
  const rest = doable.filter((each) => each !== main);
  if (need.questions.length > 0 && selected) return null;
  if ((need.request || need.questions.length > 0) && !selected)
    return (
      <Button
        key="see"
        className="h-10 sm:h-8"
        onPointerDown={(event) => event.stopPropagation()}
        onFocus={(event) => event.stopPropagation()}
        onClick={see}
      >
        {t(need.request ? "seeRequest" : "seeQuestion")}
      </Button>
    );
  return (
    <div className="ml-auto flex shrink-0 items-center gap-1">
      <Button
        key="act"
        data-main
        look={selected ? "primary" : "plain"}
        className="h-10 sm:h-8"
        disabled={acting.busy === need.key}
        onClick={() => acting.begin(need, main)}
      >
        {main.label}
        {selected && (
          <kbd
            aria-hidden
            className="ml-1 hidden rounded border border-current px-1 text-[11px] leading-4 opacity-75 sm:inline"
          >
            a
          </kbd>
        )}
      </Button>
      {rest.length > 0 && (
        <Menu
          trigger={
            <IconButton label={t("more")} className="size-10 sm:size-8">
              <Ellipsis size={16} />
            </IconButton>
          }
        >
          {rest.map((each) => (
            <MenuItem key={each.name} onSelect={() => acting.begin(need, each)}>
              {each.label}
              {each.name === "reject" && (
                <span className="ml-auto pl-4">
                  <Kbd>r</Kbd>
                </span>
              )}
            </MenuItem>
          ))}
        </Menu>
      )}
    </div>
  );
}
