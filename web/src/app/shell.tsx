// The frame around every view: who I am, which project, where to go, whether what I see is live.
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, Outlet, useRouterState } from "@tanstack/react-router";
import { LayoutDashboard, Menu as MenuIcon, Search, Settings as SettingsIcon, Wifi, WifiOff, X } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Refused } from "@/api/client";
import { me, projects } from "@/api/queries";
import { remember } from "@/app/back";
import { useCurrentProject } from "@/app/going";
import { useLiveness, useStream } from "@/app/live";
import { Overlays } from "@/app/overlayed";
import { show } from "@/app/overlays";
import { Preferences } from "@/app/preferences";
import { VIEWS } from "@/app/views";
import { Boundary, Empty, Failed, IconButton, Kbd, Loading } from "@/ui";

export function Shell() {
  const known = useQuery(me);
  if (known.error instanceof Refused && known.error.problem.status === 401) return <ToTheDoor />;
  if (known.data !== undefined) return <Frame since={known.data.last_event} />;
  if (known.isError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  return <Loading />;
}

/** After signing in, people return to the page they were on. */
function ToTheDoor() {
  const href = useRouterState({ select: (state) => state.location.href });
  useEffect(() => remember(href), [href]);
  return <Navigate to="/sign-in" />;
}

function Frame({ since }: { since: number }) {
  const { t } = useTranslation();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [openedAt, setOpenedAt] = useState<string | null>(null); // the menu of a phone closes when one goes elsewhere
  const open = openedAt === path;
  useStream(since);
  return (
    <div className="flex h-dvh">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        {t("app.skip")}
      </a>
      <aside
        className={`${open ? "fixed inset-y-0 left-0 z-40 flex shadow-[var(--shadow)]" : "hidden"} w-60 shrink-0 flex-col border-r border-line bg-sunken md:static md:flex md:shadow-none`}
      >
        <Sidebar close={() => setOpenedAt(null)} />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-3">
          <IconButton label={t("app.menu")} className="md:hidden" onClick={() => setOpenedAt(path)}>
            <MenuIcon size={18} />
          </IconButton>
          <div id="bar" className="min-w-0 flex-1" />
          <SearchButton />
          <LiveMark />
          <Preferences />
        </header>
        <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
          <Boundary key={path} fallback={<Empty title={t("error.crashed")} />}>
            <Outlet />
          </Boundary>
        </main>
      </div>
      <Overlays />
    </div>
  );
}

function SearchButton() {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      onClick={() => show({ kind: "palette" })}
      aria-label={t("app.search")}
      className="inline-flex h-8 shrink-0 items-center gap-2 rounded-md border border-transparent px-2 text-faint hover:text-ink sm:border-line sm:bg-panel"
    >
      <Search size={15} aria-hidden />
      <span className="hidden pr-4 lg:inline">{t("app.search")}</span>
      <span className="hidden sm:inline">
        <Kbd>⌘K</Kbd>
      </span>
    </button>
  );
}

function Sidebar({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const all = useQuery(projects);
  const chosen = useCurrentProject()?.project_id;
  return (
    <nav aria-label={t("app.menu")} className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto p-3">
      <div className="flex items-center justify-between px-2 pt-1">
        <Link to="/" className="flex items-center gap-2 text-[15px] font-semibold">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          {t("app.name")}
        </Link>
        <IconButton label={t("app.close")} className="md:hidden" onClick={close}>
          <X size={16} />
        </IconButton>
      </div>
      <ul className="space-y-0.5">
        <Entry to="/" icon={<LayoutDashboard size={16} aria-hidden />} text={t("nav.home")} />
        <Entry to="/settings" icon={<SettingsIcon size={16} aria-hidden />} text={t("nav.settings")} />
      </ul>
      {chosen !== undefined && (
        <ul className="space-y-0.5">
          {VIEWS.map(([name, Icon]) => (
            <Entry
              key={name}
              to={`/p/${chosen}/${name}`}
              icon={<Icon size={16} aria-hidden />}
              text={t(`nav.${name}`)}
            />
          ))}
        </ul>
      )}
      {all.data !== undefined && all.data.length > 0 && (
        <ul className="space-y-0.5 border-t border-line pt-3">
          {all.data.map((each) => (
            <Entry
              key={each.project_id}
              to={`/p/${each.project_id}`}
              icon={<Dot on={each.status === "active"} />}
              text={each.name}
            />
          ))}
        </ul>
      )}
    </nav>
  );
}

function Entry({ to, icon, text }: { to: string; icon: ReactNode; text: string }) {
  return (
    <li>
      <Link
        to={to}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ className: "bg-panel font-medium text-ink shadow-sm", "aria-current": "page" }}
        inactiveProps={{ className: "text-soft hover:bg-panel hover:text-ink" }}
        className="flex h-8 items-center gap-2.5 rounded-md px-2 transition-colors"
      >
        {icon}
        <span className="truncate">{text}</span>
      </Link>
    </li>
  );
}

function Dot({ on }: { on: boolean }) {
  return <span aria-hidden className={`size-2 shrink-0 rounded-full ${on ? "bg-green" : "bg-line-strong"}`} />;
}

function LiveMark() {
  const { t } = useTranslation();
  const liveness = useLiveness();
  const Icon = liveness === "live" ? Wifi : WifiOff;
  return (
    <span
      role="status"
      className={`flex items-center gap-1.5 px-2 text-xs ${liveness === "live" ? "text-green" : "text-amber"}`}
    >
      <Icon size={14} aria-hidden />
      <span className={liveness === "live" ? "sr-only sm:not-sr-only" : ""}>{t(`live.${liveness}`)}</span>
    </span>
  );
}
