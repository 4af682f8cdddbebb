// Where one is, which view that shows, links, and going elsewhere. Which addresses there are is in router.tsx.
//
// Written here, because what a library brings along for this is a sixth of the scripts of a first view.
import {
  createElement,
  useSyncExternalStore,
  type ComponentProps,
  type ComponentType,
  type MouseEvent as Click,
  type ReactNode,
} from "react";

import { addressWith, known, paramsIn, searchIn, type Params, type Search } from "@/app/address";
import { useTranslation } from "@/i18n/use-words";
import { Empty } from "@/ui";

export interface Route {
  /** `$name` stands for one part of it, `*` for everything. The first one that fits counts. */
  path: string;
  view: () => Promise<ComponentType>;
  /** Asks for what the view reads first, while its script still comes. Nothing waits for it but the view itself. */
  reads?: (params: Params) => void;
  /** Without the frame around it. */
  bare?: boolean;
}

interface Place {
  path: string;
  /** Without its sign. */
  hash: string;
  params: Params;
  search: Search;
  route: Route | undefined;
  View: ComponentType;
}

let routes: readonly Route[] = [];
let place: Place = { path: "", hash: "", params: {}, search: {}, route: undefined, View: () => null };
let last = 0;
const loaded = new Map<Route, ComponentType>();
const listeners = new Set<() => void>();

/** Shows what the address of the page says; resolves when that can be drawn. */
export function open(all: readonly Route[]): Promise<void> {
  routes = all;
  return arrive();
}

function routeAt(path: string): { route: Route | undefined; params: Params } {
  for (const route of routes) {
    const params = paramsIn(route.path, path);
    if (params !== undefined) return { route, params };
  }
  return { route: undefined, params: {} };
}

/** What was shown stays until the view is there. Nothing waits where it is already. */
async function arrive(): Promise<void> {
  const turn = ++last;
  const { pathname, search, hash } = window.location;
  const { route, params } = routeAt(pathname);
  if (pathname !== place.path) route?.reads?.(params);
  const View = route === undefined ? Lost : (loaded.get(route) ?? (await viewOf(route)));
  if (turn !== last) return; // they went on meanwhile
  place = {
    path: pathname.replace(/(.)\/$/, "$1"),
    hash: hash.slice(1),
    params: same(place.params, params),
    search: same(place.search, searchIn(search)),
    route,
    View,
  };
  for (const each of listeners) each();
}

const same = <Kept extends object>(before: Kept, now: Kept): Kept =>
  JSON.stringify(before) === JSON.stringify(now) ? before : now;

const RELOADED = "toryo.reloaded";

/** A script that is gone is often one of an earlier version of the server: the page is loaded again, once. */
async function viewOf(route: Route): Promise<ComponentType> {
  try {
    const view = await route.view();
    loaded.set(route, view);
    sessionStorage.removeItem(RELOADED);
    return view;
  } catch (error) {
    if (sessionStorage.getItem(RELOADED) !== null) {
      reportError(error);
      return Lost;
    }
    sessionStorage.setItem(RELOADED, "yes");
    window.location.reload();
    return new Promise(() => undefined);
  }
}

function Lost() {
  const { t } = useTranslation();
  return <Empty title={t("error.late")} />;
}

window.addEventListener("popstate", () => void arrive());

// --- going ---------------------------------------------------------------------------------------------------------

export interface Goal {
  /** A path, with `$name` for what `params` say; without, the view that is shown. */
  to?: string;
  params?: Params;
  /** Without, nothing is said behind the path. */
  search?: Search | ((before: Search) => Search);
  /** Back does not lead to where one was. */
  replace?: boolean;
}

/** Resolves when the view is shown. */
export function navigate({ to, params, search, replace = false }: Goal): Promise<void> {
  const { pathname, search: words, hash } = window.location;
  const said = typeof search === "function" ? search(searchIn(words)) : search;
  const address = addressWith(to ?? pathname, params, said);
  if (address !== addressWith(pathname, {}, searchIn(words)) + hash)
    window.history[replace ? "replaceState" : "pushState"](null, "", address);
  return arrive();
}

type Said = { [Name in keyof Search]: Search[Name] | undefined };

/** Changes these words of the address and leaves the others; undefined takes one out. */
export const say = (said: Said, { replace }: { replace: boolean } = { replace: false }): void =>
  void navigate({ replace, search: (before) => known({ ...before, ...said }) });

/** Loads a view that somebody is about to go to. */
function prepare(address: string): void {
  const { route, params } = routeAt(new URL(address, window.location.href).pathname);
  if (route === undefined) return;
  route.reads?.(params);
  if (loaded.has(route)) return;
  route.view().then(
    (view) => loaded.set(route, view),
    () => undefined, // it is asked for again when they go there
  );
}

type LinkProps = Omit<ComponentProps<"a">, "href" | "onClick"> & {
  to: string;
  params?: Params;
  search?: Search;
  children?: ReactNode;
};

export function Link({ to, params, search, children, ...rest }: LinkProps) {
  const address = addressWith(to, params, search);
  const soon = () => prepare(address);
  const go = (event: Click) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.altKey || event.ctrlKey || event.shiftKey) return; // another tab or window
    event.preventDefault();
    void navigate({ to: address });
  };
  return (
    <a {...rest} href={address} onClick={go} onMouseEnter={soon} onFocus={soon} onTouchStart={soon}>
      {children}
    </a>
  );
}

// --- where one is --------------------------------------------------------------------------------------------------

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

function usePlace<Name extends keyof Place>(name: Name): Place[Name] {
  return useSyncExternalStore(subscribe, () => place[name]);
}

/** What the path names. */
export const useParams = (): { projectId?: string; taskId?: string } => usePlace("params");

export const useSearch = (): Search => usePlace("search");

/** Without a slash at its end. */
export const usePath = (): string => usePlace("path");

export const useHash = (): string => usePlace("hash");

export const useRoute = (): Route | undefined => usePlace("route");

/** The view of the address. */
export function Shown() {
  return createElement(usePlace("View"));
}
