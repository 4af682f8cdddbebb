// One row of what needs a person.
import {
  Ban,
  Clock,
  Coins,
  Eye,
  Link2Off,
  Lock,
  MessageCircle,
  OctagonAlert,
  PlugZap,
  ShieldQuestion,
  SquareCheckBig,
  Unplug,
  Ellipsis,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import type { Need } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { useNames } from "@/app/names";
import { Ago, Avatar, Badge, Button, Copyable, IconButton, Kbd, Menu, MenuItem, visible, type Tone } from "@/ui";
import type { Acting } from "@/views/home/acting";
import { actOf, offered, primary, subject, type May } from "@/views/home/acts";

const KINDS: Record<string, { icon: LucideIcon; tone: Tone }> = {
  approval: { icon: ShieldQuestion, tone: "accent" },
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
  review: { icon: Eye, tone: "blue" },
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
  const openTask = useOpenTask();
  const row = useRef<HTMLLIElement>(null);
  const { icon: Icon, tone } = KINDS[need.kind] ?? OTHER;
  const main = primary(need, may);
  const behind = need.blocks ?? 0;
  useEffect(() => {
    if (selected) row.current?.scrollIntoView?.({ block: "nearest" });
  }, [selected]);
  return (
    <li
      ref={row}
      aria-current={selected}
      onPointerDown={onSelect}
      onFocus={onSelect}
      className={`flex flex-col gap-2 border-l-2 px-4 py-3 sm:flex-row sm:items-start sm:gap-4 ${selected ? "border-l-accent bg-sunken/50" : "border-l-transparent"}`}
    >
      <div className="min-w-0 flex-1 space-y-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Badge tone={tone}>
            <Icon size={13} aria-hidden />
            {t(KINDS[need.kind] === undefined ? "kind.other" : `kind.${need.kind}`)}
          </Badge>
          {who !== null && (
            <span className="inline-flex items-center gap-1.5 text-[13px] text-soft">
              <Avatar id={need.agent_id ?? ""} name={who} size={18} />
              {who}
            </span>
          )}
          <span className="text-xs text-faint">
            <Ago at={need.since} />
            {behind > 0 && ` · ${t("behind", { count: behind })}`}
          </span>
        </div>
        <p className="font-medium break-words">
          {need.task_id === null ? (
            subject(need)
          ) : (
            <button type="button" className="text-left hover:underline" onClick={() => openTask(need.task_id)}>
              {subject(need)}
            </button>
          )}
        </p>
        {need.request ? (
          <Request request={need.request} />
        ) : (
          <p className="line-clamp-2 break-words text-soft">{need.text}</p>
        )}
        {main !== undefined && actOf(need, main.name).how === "command" && (
          <p className="text-[13px] text-soft">
            {t("byHand")} <Copyable text={main.command} />
          </p>
        )}
      </div>
      <Actions need={need} selected={selected} acting={acting} may={may} />
    </li>
  );
}

/** All that would be approved: who really asks, and every text that counts, as somebody's words. */
function Request({ request }: { request: NonNullable<Need["request"]> }) {
  const { t } = useTranslation("home");
  const names = useNames("").agent;
  const texts = [
    ["description", request.description],
    ["context", request.context ?? ""],
    ["acceptance", request.acceptance.join("\n")],
    ["commands", request.commands.join("\n")],
  ] as const;
  return (
    <div className="space-y-1 text-soft">
      <p className="break-words">
        {t(request.asked_for === null ? "request.asks" : "request.asksFor", {
          asker: names(request.asked_by),
          person: names(request.asked_for ?? ""),
          assignee: names(request.assignee_id ?? ""),
        })}
      </p>
      {texts.map(
        ([name, text]) =>
          text !== "" && (
            <div key={name} className={name === "commands" ? "text-amber" : ""}>
              <p className="text-xs">{t(`request.${name}`)}</p>
              <pre className="max-h-40 overflow-auto rounded-md bg-sunken px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap">
                {visible(text)}
              </pre>
            </div>
          ),
      )}
      {!request.complete && <p className="text-xs text-amber">{t("request.cut")}</p>}
    </div>
  );
}

function Actions({ need, selected, acting, may }: Pick<NeedRowProps, "need" | "selected" | "acting" | "may">) {
  const { t } = useTranslation("home");
  const main = primary(need, may);
  const doable = offered(need, may).filter((each) => actOf(need, each.name).how !== "command");
  if (main === undefined || doable.length === 0) return null;
  const rest = doable.filter((each) => each !== main);
  return (
    <div className="flex shrink-0 items-center gap-1 sm:pt-1">
      <Button
        look={selected ? "primary" : "plain"}
        className="h-10 flex-1 sm:h-8 sm:flex-none"
        disabled={acting.busy === need.key}
        onClick={() => acting.begin(need, main.name)}
      >
        {t(`act.${main.name}`)}
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
            <MenuItem key={each.name} onSelect={() => acting.begin(need, each.name)}>
              {t(`act.${each.name}`)}
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
