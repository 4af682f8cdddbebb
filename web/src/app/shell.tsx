// The frame around every view: who I am, which project, where to go, whether what I see is live.
import { useQuery } from "@tanstack/react-query";
import { Menu as MenuIcon, Search, Wifi, WifiOff } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";

import { Refused } from "@/api/client";
import { me, needs } from "@/api/queries";
import { remember, wasSignedOut } from "@/app/back";
import { Conditions } from "@/app/conditions";
import { useShownProject } from "@/app/going";
import { useLiveness } from "@/app/live";
import { Overlays } from "@/app/overlayed";
import { show } from "@/app/overlays";
import { PastProvider } from "@/app/past/past";
import { Preferences } from "@/app/preferences";
import { navigate, usePath } from "@/app/routing";
import { Sidebar } from "@/app/sidebar";
import { Crumb, PageTitle } from "@/app/title";
import { DraftsOf } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Boundary, Empty, Failed, IconButton, Kbd, Loading, Mentions, lateComponent } from "@/ui";

// Nothing of these is seen at first.
const Attention = lateComponent(() => import("@/app/attention").then((part) => part.Attention), { beside: true });
const Stream = lateComponent(() => import("@/app/stream").then((part) => part.Stream), { beside: true });
const TaskChip = lateComponent(() => import("@/app/task-chip").then((part) => part.TaskChip), { beside: true });
const PhoneMenu = lateComponent(() => import("@/app/phone-menu").then((part) => part.PhoneMenu), {
  lost: ({ close }) => close(),
});

export function Shell({ children }: { children: ReactNode }) {
  const known = useQuery(me);
  if (known.error instanceof Refused && known.error.problem.status === 401)
    return <ToTheDoor wasIn={known.data !== undefined || known.error.problem["signed_out"] === true} />;
  if (known.data !== undefined) {
    const { person_id: person, login, last_event: since } = known.data;
    return (
      <DraftsOf key={person} person={person}>
        <Mentions value={drawTask}>
          <PastProvider>
            <Frame since={since} who={`${person}.${login}`}>
              {children}
            </Frame>
          </PastProvider>
        </Mentions>
      </DraftsOf>
    );
  }
  if (known.isError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  return <Loading />;
}

const drawTask = (taskId: string) => <TaskChip taskId={taskId} />;

/** After signing in, people return to the page they were on. */
function ToTheDoor({ wasIn }: { wasIn: boolean }) {
  useEffect(() => {
    const { pathname, search, hash } = window.location;
    remember(pathname + search + hash);
    if (wasIn) wasSignedOut();
    void navigate({ to: "/sign-in" });
  }, [wasIn]);
  return null;
}

function Frame({ since, who, children }: { since: number; who: string; children: ReactNode }) {
  const { t } = useTranslation();
  const path = usePath();
  const [openedAt, setOpenedAt] = useState<string | null>(null); // the menu of a phone closes when one goes elsewhere
  const open = openedAt === path;
  const project = useShownProject();
  return (
    <div className="flex h-dvh">
      <PageTitle project={project} count={useQuery(needs(null)).data?.length ?? 0} />
      <Attention />
      <Stream since={since} who={who} />
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        {t("app.skip")}
      </a>
      <aside className="hidden w-60 shrink-0 flex-col border-r border-line bg-sunken md:flex">
        <Sidebar close={() => setOpenedAt(null)} />
      </aside>
      {open && (
        <PhoneMenu close={() => setOpenedAt(null)}>
          <Sidebar close={() => setOpenedAt(null)} />
        </PhoneMenu>
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-3">
          <IconButton label={t("app.menu")} className="md:hidden" onClick={() => setOpenedAt(path)}>
            <MenuIcon size={18} />
          </IconButton>
          <Crumb project={project} />
          <div id="bar" className="min-w-0 flex-1" />
          <SearchButton />
          <LiveMark />
          <Preferences />
        </header>
        <Conditions project={project} />
        <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
          <Boundary key={path} fallback={<Empty title={t("error.crashed")} />}>
            {children}
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
      aria-keyshortcuts="Control+K Meta+K"
      className="inline-flex h-8 shrink-0 items-center gap-2 rounded-md border border-transparent px-2 text-faint hover:text-ink sm:border-line sm:bg-panel"
    >
      <Search size={15} aria-hidden />
      <span className="sr-only lg:not-sr-only">{t("app.search")}</span>
      <span className="hidden sm:inline lg:ml-4" aria-hidden>
        <Kbd>⌘K</Kbd>
      </span>
    </button>
  );
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
