// The views of a project, in the order of the menu, and the keys that lead to them. What else the menu, the palette and
// the titles of pages say of views is derived from this list; `nav.<name>` is what each is called.
import {
  ChartNoAxesGantt,
  ChartPie,
  Database,
  GitPullRequestArrow,
  History,
  KeyRound,
  LayoutDashboard,
  List,
  MessagesSquare,
  Network,
  ScrollText,
  SquareKanban,
  Users,
  type LucideIcon,
} from "lucide-react";

export interface View {
  name: keyof typeof KEYS;
  icon: LucideIcon;
  /** Pressed after `g`. */
  key: string;
  /** The address below that of the project. */
  path: string;
}

/** Always in sight, what one watches, and what is kept. */
export type Group = "first" | "watch" | "records";

const KEYS = {
  home: "o",
  board: "b",
  list: "l",
  review: "r",
  chat: "c",
  timeline: "t",
  graph: "g",
  team: "m",
  logs: "k",
  sessions: "s",
  audit: "a",
  usage: "u",
  state: "d",
} as const;

const view = (name: View["name"], icon: LucideIcon): View => ({
  name,
  icon,
  key: KEYS[name],
  path: name === "home" ? "" : name,
});

export const MENU: Record<Group, readonly View[]> = {
  first: [
    view("home", LayoutDashboard),
    view("board", SquareKanban),
    view("list", List),
    view("review", GitPullRequestArrow),
    view("chat", MessagesSquare),
  ],
  watch: [view("timeline", ChartNoAxesGantt), view("graph", Network), view("team", Users), view("logs", ScrollText)],
  records: [view("sessions", KeyRound), view("audit", History), view("usage", ChartPie)],
};

/** With what is looked at too seldom for the menu. */
export const VIEWS: readonly View[] = [...MENU.first, ...MENU.watch, ...MENU.records, view("state", Database)];

const AT = /^\/p\/([^/]+)(?:\/([^/]*))?/;

/** The view that an address shows; undefined outside of a project. */
export function viewAt(path: string): View | undefined {
  const found = AT.exec(path);
  return found === null ? undefined : VIEWS.find((each) => each.path === (found[2] ?? ""));
}

export function addressOf(projectId: string, path: string): string {
  return `/p/${encodeURIComponent(projectId)}${path === "" ? "" : `/${path}`}`;
}

/** Where the same view shows another project: from outside of a project, that project's overview. */
export function sameViewOf(projectId: string, path: string): string {
  return addressOf(projectId, viewAt(path)?.path ?? "");
}
