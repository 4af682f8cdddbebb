import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Overlays } from "@/app/overlayed";
import { Sidebar } from "@/app/sidebar";
import { MENU, VIEWS, addressOf, sameViewOf, viewAt } from "@/app/views";
import { Crumb, PageTitle } from "@/app/title";
import { ANSWERS, shop } from "@/example";
import { choose, serve, show } from "@/testkit";
import { Bar } from "@/ui";

const mill = { ...shop, id: "mill", project_id: "mill", name: "Mill", status: "paused" as const };
const barn = { ...shop, id: "barn", project_id: "barn", name: "Barn", status: "archived" as const };
const need = (kind: string) => ({ kind, key: kind, title: kind, text: "", actions: [], request: null });
const answers = {
  ...ANSWERS,
  "GET /projects": { projects: [shop, mill, barn] },
  "GET /needs-you": { items: [need("review"), need("review"), need("blocked")] },
  "GET /sessions": { sessions: [] },
  "GET /projects/shop/chats": {
    chats: [
      { unread: 4, observing: false },
      { unread: 9, observing: true },
    ],
  },
};
const links = () => screen.getAllByRole("link").map((each) => each.querySelector("span:first-of-type")?.textContent);
const menu = (at = "/p/shop/board", path = "/p/$projectId/board") => show(<Sidebar close={vi.fn()} />, at, path);

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the list of views", () => {
  it("has every view once, with an address and a key of its own", () => {
    for (const of of ["name", "key", "path"] as const)
      expect(new Set(VIEWS.map((each) => each[of])).size, of).toBe(VIEWS.length);
  });

  it("finds the view of an address, also below it", () => {
    for (const each of VIEWS) expect(viewAt(addressOf("a b", each.path))).toBe(each);
    expect(viewAt("/p/shop/review/t1")?.name).toBe("review");
    expect(viewAt("/settings")).toBeUndefined();
  });

  it("keeps the view where the project changes", () => {
    expect(sameViewOf("mill", "/p/shop/timeline")).toBe("/p/mill/timeline");
    expect(sameViewOf("mill", "/p/shop/review/t1")).toBe("/p/mill/review");
    expect(sameViewOf("mill", "/settings")).toBe("/p/mill");
  });
});

describe("the menu", () => {
  it("stands below its project, with what waits for the person, and folds what is kept", async () => {
    serve(answers);
    await menu();
    await screen.findByRole("button", { name: /^Project: Corner shop/ });
    expect(await screen.findByText("2 changes to review")).toBeTruthy();
    expect(await screen.findByText("4 new messages")).toBeTruthy();
    expect(links()).not.toContain("Usage");
    const records = screen.getByRole("button", { name: "Records" });
    expect(records.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(records);
    expect(links()).toEqual(expect.arrayContaining(["Board", "Timeline", "Usage", "Settings"]));
    cleanup();
    await menu();
    await screen.findByRole("link", { name: "Usage" });
  });

  it("never hides the view that is shown", async () => {
    serve(answers);
    for (const { path } of MENU.records) {
      await menu(addressOf("shop", path), `/p/$projectId/${path}`);
      await waitFor(() => expect(document.querySelector('a[aria-current="page"]')).not.toBeNull());
      cleanup();
    }
  });

  it("switches to another project in the same view; what is not active says so in words", async () => {
    serve(answers);
    const { href } = await menu("/p/shop/board?by=agent&q=oak", "/p/$projectId/board");
    fireEvent.keyDown(await screen.findByRole("button", { name: /^Project: Corner shop/ }), { key: "Enter" });
    const items = await screen.findAllByRole("menuitem");
    expect(items.map((each) => each.textContent)).toEqual([
      "All projects",
      "Corner shop",
      "MillPaused",
      "BarnArchived",
      "New project",
    ]);
    fireEvent.click(screen.getByRole("menuitem", { name: /Mill/ }));
    await waitFor(() => expect(href()).toBe("/p/mill/board?by=agent"));
  });

  it("lists the projects where one looks at all of them, without those that are archived", async () => {
    serve(answers);
    await menu("/", "/");
    await screen.findByRole("link", { name: "Corner shop" });
    expect(links()).toEqual([undefined, "Overview", "Corner shop", "Mill", "Settings"]);
    await choose(/^Project: All projects/, /Barn/);
  });
});

describe("the title", () => {
  it("names view and project in bar and tab, and counts what waits", async () => {
    serve(answers);
    const place = Object.assign(document.createElement("div"), { id: "bar" });
    document.body.append(place);
    const page = (
      <>
        <PageTitle project={shop} count={3} />
        <Crumb project={shop} />
        <Bar title="Board" />
      </>
    );
    await show(page, "/p/shop/board", "/p/$projectId/board");
    await waitFor(() => expect(document.title).toBe("(3) Board · Corner shop"));
    expect(screen.getByRole("link", { name: "Corner shop" }).getAttribute("href")).toBe("/p/shop");
    expect(within(place).getByRole("heading").textContent).toBe("Board");
    place.remove();
  });
});

describe("`g` and a letter", () => {
  it.each(VIEWS.map((each) => [each.key, each] as const))("g %s leads to its view", async (key, view) => {
    serve(answers);
    const { href } = await show(<Overlays />, "/p/shop/x", "/p/$projectId/x");
    await waitFor(() => {
      fireEvent.keyDown(document.body, { key: "g" });
      fireEvent.keyDown(document.body, { key });
      expect(href()).toBe(addressOf("shop", view.path));
    });
  });
});
