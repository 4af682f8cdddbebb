// Going from one view to another: which one is shown while scripts come, and what becomes of one that is gone.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ComponentType } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ROUTES } from "@/app/router";
import { Link, Shown, navigate, open, say, type Route } from "@/app/routing";

/** A view whose script comes when the test says so. */
function coming(words: string) {
  let come: () => void = () => undefined;
  const script = new Promise<ComponentType>((there) => {
    come = () => there(() => <p>{words}</p>);
  });
  return { view: vi.fn(() => script), come };
}

const here = (words: string): Route["view"] => {
  const view = () => <p>{words}</p>;
  return () => Promise.resolve(view);
};
const address = () => window.location.pathname + window.location.search;

async function at(path: string, ...routes: Route[]): Promise<void> {
  window.history.replaceState(null, "", path);
  await open(routes);
  render(<Shown />);
}

beforeEach(() => sessionStorage.clear());
afterEach(cleanup);

it("shows the view before until the next one is there, and only the last one that was gone to", async () => {
  const [slow, quick] = [coming("slow"), coming("quick")];
  await at("/", { path: "/", view: here("home") }, { path: "/a", ...slow }, { path: "/b", ...quick });
  void navigate({ to: "/a" });
  void navigate({ to: "/b" });
  expect(screen.getByText("home")).toBeTruthy();
  quick.come();
  await screen.findByText("quick");
  slow.come();
  await Promise.resolve();
  expect(screen.queryByText("slow")).toBeNull();
  expect(address()).toBe("/b");
});

it("loads a view as soon as somebody points at a link to it, and then shows it at once", async () => {
  const next = coming("next");
  const reads = vi.fn();
  const link = () => Promise.resolve(() => <Link to="/p/$projectId" params={{ projectId: "a b" }} children="go" />);
  await at("/", { path: "/", view: link }, { path: "/p/$projectId", view: next.view, reads });
  const go = await screen.findByText("go");
  fireEvent.mouseEnter(go);
  expect(next.view).toHaveBeenCalledTimes(1);
  expect(reads).toHaveBeenCalledWith({ projectId: "a b" });
  next.come();
  await Promise.resolve();
  await Promise.resolve();
  fireEvent.click(go);
  expect(address()).toBe("/p/a%20b");
  expect(screen.getByText("next")).toBeTruthy();
});

it("leaves a link to the browser that is to open elsewhere", async () => {
  await at("/", { path: "*", view: () => Promise.resolve(() => <Link to="/a" children="go" />) });
  document.body.addEventListener("click", (event) => event.preventDefault(), { once: true }); // jsdom cannot go there
  fireEvent.click(await screen.findByText("go"), { ctrlKey: true });
  expect(address()).toBe("/");
});

it("says several words one after the other, and adds nothing to where Back leads if nothing changes", async () => {
  await at("/list?q=oak&other=1", { path: "*", view: here("list") });
  const steps = window.history.length;
  say({ q: "oak" });
  expect([address(), window.history.length]).toEqual(["/list?q=oak&other=1", steps]);
  say({ by: "agent" });
  say({ q: undefined, task: "t1" });
  expect(address()).toBe("/list?task=t1&by=agent");
});

it("says that a script is gone where the page was loaded again for it, and goes on", async () => {
  const gone = { path: "/gone", view: () => Promise.reject(new Error("gone")) };
  const told = vi.fn();
  vi.stubGlobal("reportError", told);
  sessionStorage.setItem("toryo.reloaded", "yes"); // that it is loaded again is seen in a browser
  await at("/gone", gone, { path: "/", view: here("home") });
  await screen.findByText(/could not be loaded/);
  expect(told).toHaveBeenCalledTimes(1);
  await navigate({ to: "/" });
  await waitFor(() => expect(screen.getByText("home")).toBeTruthy());
  expect(sessionStorage.getItem("toryo.reloaded")).toBeNull();
  vi.unstubAllGlobals();
});

it("knows a view for every address that a link or a step names", () => {
  const sources = import.meta.glob<string>(["/src/**/*.{ts,tsx}", "!/src/**/*.test.*"], {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const named = Object.values(sources).flatMap((text) =>
    [...text.matchAll(/\bto[=:]\s*\{?["`](\/[^"`{}]*)["`]/g)].map(([, path]) => path ?? ""),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !ROUTES.some((route) => route.path === path))).toEqual([]);
});
