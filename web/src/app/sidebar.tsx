// The menu: the project that it belongs to stands above its views. What is watched and what is kept can be folded away.
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, FolderGit2, LayoutDashboard, Settings as SettingsIcon, X, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";

import { chats, needs, projects } from "@/api/queries";
import { useShownProject } from "@/app/going";
import { keptAt } from "@/app/past/past";
import { Link, usePath, useSearch } from "@/app/routing";
import { SavedViews } from "@/app/saved";
import { Switcher } from "@/app/switcher";
import { MENU, addressOf, viewAt, type Group, type View } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui";

export function Sidebar({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const project = useShownProject();
  return (
    <nav aria-label={t("app.menu")} className="flex min-h-0 flex-1 flex-col gap-3 overflow-auto p-3">
      <div className="flex items-center justify-between px-2 pt-1">
        <Link to="/" className="flex items-center gap-2 text-[15px] font-semibold">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          {t("app.name")}
        </Link>
        <IconButton label={t("app.close")} className="md:hidden" onClick={close}>
          <X size={16} />
        </IconButton>
      </div>
      <Switcher project={project} />
      {project === undefined ? <AllProjects /> : <OfProject key={project.project_id} projectId={project.project_id} />}
      <ul className="mt-auto border-t border-line pt-3">
        <Entry to="/settings" icon={SettingsIcon} text={t("nav.settings")} />
      </ul>
    </nav>
  );
}

function AllProjects() {
  const { t } = useTranslation();
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  return (
    <>
      <ul className="space-y-0.5">
        <Entry to="/" icon={LayoutDashboard} text={t("nav.home")} />
      </ul>
      <ul className="space-y-0.5">
        {all.map((each) => (
          <Entry key={each.project_id} to={addressOf(each.project_id, "")} icon={FolderGit2} text={each.name}>
            {each.status === "paused" && <span className="text-xs text-faint">{t("switcher.paused")}</span>}
          </Entry>
        ))}
      </ul>
    </>
  );
}

function OfProject({ projectId }: { projectId: string }) {
  const { t } = useTranslation();
  const counts = useCounts(projectId);
  const entries = (views: readonly View[]) => (
    <ul className="space-y-0.5">
      {views.map(({ name, icon, path }) => (
        <Entry key={name} to={addressOf(projectId, path)} icon={icon} text={t(`nav.${name}`)}>
          <Count of={name} count={counts[name] ?? 0} />
        </Entry>
      ))}
    </ul>
  );
  return (
    <>
      {entries(MENU.first)}
      <SavedViews projectId={projectId} />
      <Folding group="watch">{entries(MENU.watch)}</Folding>
      <Folding group="records">{entries(MENU.records)}</Folding>
    </>
  );
}

/** What waits for the person who looks, by view. */
function useCounts(projectId: string): Partial<Record<View["name"], number>> {
  const mine = useQuery(needs(projectId)).data ?? [];
  const threads = useQuery(chats(projectId)).data ?? [];
  return {
    home: mine.length,
    review: mine.filter((each) => each.kind === "review").length,
    chat: threads.reduce((sum, each) => sum + (each.observing ? 0 : each.unread), 0),
  };
}

function Count({ of, count }: { of: View["name"]; count: number }) {
  const { t } = useTranslation();
  if (count === 0 || (of !== "home" && of !== "review" && of !== "chat")) return null;
  return (
    <span className="rounded-full bg-accent-soft px-1.5 text-xs font-medium text-accent tabular-nums">
      <span aria-hidden>{count}</span>
      <span className="sr-only">{t(`waiting.${of}`, { count })}</span>
    </span>
  );
}

const KEPT = "toryo.menu";

/** What is watched is open until somebody folds it, what is kept is folded; the view that is shown is never hidden. */
function Folding({ group, children }: { group: Exclude<Group, "first">; children: ReactNode }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(
    () => (localStorage.getItem(`${KEPT}.${group}`) ?? (group === "watch" ? "1" : "0")) === "1",
  );
  const path = usePath();
  const here = MENU[group].some((each) => each === viewAt(path));
  const shown = open || here;
  const turn = () => {
    localStorage.setItem(`${KEPT}.${group}`, open ? "0" : "1");
    setOpen(!open);
  };
  return (
    <div>
      <button
        type="button"
        aria-expanded={shown}
        onClick={turn}
        className="flex h-7 w-full items-center gap-1.5 rounded-md px-2 text-xs text-faint hover:text-ink"
      >
        <ChevronRight size={12} className={shown ? "rotate-90" : ""} aria-hidden />
        {t(`nav.${group}`)}
      </button>
      {shown && children}
    </div>
  );
}

interface EntryProps {
  to: string;
  icon: LucideIcon;
  text: string;
  children?: ReactNode;
}

function Entry({ to, icon: Icon, text, children }: EntryProps) {
  const { at } = useSearch();
  const here = usePath() === to;
  return (
    <li>
      <Link
        to={to}
        search={keptAt(to, at)}
        aria-current={here ? "page" : undefined}
        className={`flex h-8 items-center gap-2.5 rounded-md px-2 transition-colors ${here ? "bg-panel font-medium text-ink shadow-sm" : "text-soft hover:bg-panel hover:text-ink"}`}
      >
        <Icon size={16} className="shrink-0" aria-hidden />
        <span className="min-w-0 flex-1 truncate">{text}</span>
        {children}
      </Link>
    </li>
  );
}
