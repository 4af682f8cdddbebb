// The team strip: who is at work, then who is held, as cards; who is idle or off in one row each, until it is unfolded.
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";

import type { Member } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Button, Empty, Panel, SILENT_MS, lateComponent, newest, useTold } from "@/ui";
import { Card, RUNNING, type Places } from "@/views/home/card";

const WhyDialog = lateComponent(() => import("@/views/home/why").then((part) => part.WhyDialog), {
  lost: ({ onClose }) => onClose(),
});

type Group = "working" | "held" | "idle" | "off";

const CARDS = 12;
const FACES = 12;
/** Of the cards that are shown, at least as many are of agents that are held: those need somebody to look. */
const HELD_CARDS = 4;

/** `projects`: their names, where more than one is shown. Who works in several is one card with each of them inside. */
export function TeamStrip({ team, projects }: { team: Member[]; projects: Map<string, string> | null }) {
  const { t } = useTranslation("home");
  const [asked, setAsked] = useState<Member | null>(null);
  const [whole, setWhole] = useState(false);
  const groups = grouped(byAgent(team.filter((each) => each.kind === "ai")));
  const silent = useTold((now) =>
    groups.working
      .filter((each) => isSilent(each, now))
      .map(idOf)
      .join(" "),
  ).split(" ");
  const working = [
    ...groups.working.filter((each) => silent.includes(idOf(each))),
    ...groups.working.filter((each) => !silent.includes(idOf(each))),
  ];
  const held = groups.held.toSorted((one, other) => heldBy(one) - heldBy(other));
  const cards = [...working, ...held];
  const crowded = cards.length > CARDS;
  const forHeld = Math.min(held.length, Math.max(HELD_CARDS, CARDS - working.length));
  const first = [...working.slice(0, CARDS - forHeld), ...held.slice(0, forHeld)];
  const list = (those: Places[]) => <Cards those={those} projects={projects} onWhy={setAsked} />;
  return (
    <Panel title={t("team")} aside={crowded && <Counts groups={groups} />}>
      {Object.values(groups).every((those) => those.length === 0) && <Empty title={t("teamNone")} />}
      {list(whole || !crowded ? cards : first)}
      {crowded && (
        <div className="border-t border-line p-2 text-center">
          <Button look="quiet" small onClick={() => setWhole(!whole)}>
            {whole ? t("less") : t("app.more", { count: cards.length - CARDS })}
          </Button>
        </div>
      )}
      {(["idle", "off"] as const).map(
        (name) =>
          groups[name].length > 0 && (
            <Folded key={name} name={name} those={groups[name]}>
              {list(groups[name])}
            </Folded>
          ),
      )}
      {asked !== null && <WhyDialog agentId={asked.agent_id} name={asked.name} onClose={() => setAsked(null)} />}
    </Panel>
  );
}

const idOf = ([{ agent_id }]: Places): string => agent_id;
const HELD: readonly Member["state"][] = ["held", "cooling_down", "waiting"];

/** Who waits by itself comes after who is held by something. */
function heldBy(places: Places): number {
  return Math.min(...places.map(({ state }) => (HELD.includes(state) ? HELD.indexOf(state) : HELD.length)));
}

/** Whether a program that runs has given no sign for long. Who is there to talk may be silent. */
function isSilent(places: Places, now: number): boolean {
  return places.some(({ state, last_call_at, doing }) => {
    const heard = newest(last_call_at, doing?.since ?? null);
    return state === "working" && heard !== null && now - Date.parse(heard) >= SILENT_MS;
  });
}

/** How many do what, where not all of them are shown. */
function Counts({ groups }: { groups: Record<Group, Places[]> }) {
  const { t } = useTranslation("home");
  const names = (["working", "held", "idle", "off"] as const).filter((name) => groups[name].length > 0);
  return (
    <p className="text-xs text-soft tabular-nums">
      {names.map((name) => t(`folded.${name}`, { count: groups[name].length })).join(" · ")}
    </p>
  );
}

interface CardsProps {
  those: Places[];
  projects: Map<string, string> | null;
  onWhy: (member: Member) => void;
}

function Cards({ those, projects, onWhy }: CardsProps) {
  if (those.length === 0) return null;
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,17.5rem),1fr))] overflow-hidden rounded-b-lg">
      {those.map((places) => (
        <Card key={places[0].agent_id} places={places} projects={projects} onWhy={onWhy} />
      ))}
    </ul>
  );
}

/** One row for many agents that do nothing: their number and their faces. */
function Folded({ name, those, children }: { name: "idle" | "off"; those: Places[]; children: ReactNode }) {
  const { t } = useTranslation("home");
  const [open, setOpen] = useState(false);
  const Icon = open ? ChevronDown : ChevronRight;
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-11 w-full items-center gap-2 border-t border-line px-3.5 text-left text-[13px] text-soft first:border-t-0 hover:bg-sunken"
      >
        <Icon size={15} aria-hidden className="shrink-0" />
        <span className="shrink-0 tabular-nums">{t(`folded.${name}`, { count: those.length })}</span>
        <span className="flex min-w-0 gap-1 overflow-hidden" aria-hidden>
          {those.slice(0, FACES).map(([{ agent_id, name: called }]) => (
            <Avatar key={agent_id} id={agent_id} name={called} size={20} />
          ))}
        </span>
      </button>
      {open && children}
    </>
  );
}

/** One entry for each agent, in the order in which the server tells them. */
function byAgent(team: readonly Member[]): Places[] {
  const found = new Map<string, Places>();
  for (const each of team) {
    const known = found.get(each.agent_id);
    if (known === undefined) found.set(each.agent_id, [each]);
    else known.push(each);
  }
  return [...found.values()];
}

/** By what an agent does in the project in which it does most. */
export function grouped(all: readonly Places[]): Record<Group, Places[]> {
  const found: Record<Group, Places[]> = { working: [], held: [], idle: [], off: [] };
  for (const places of all) {
    const states = places.map((each) => each.state);
    if (states.some((state) => RUNNING.includes(state))) found.working.push(places);
    else if (states.every((state) => state === "off")) found.off.push(places);
    else if (states.every((state) => state === "idle" || state === "off")) found.idle.push(places);
    else found.held.push(places);
  }
  return found;
}
