// Who may only look: every view is shown to a viewer and to an owner. What the owner can press to change something is not
// there for the viewer; and whatever the viewer presses asks the server for nothing but reading.
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS } from "@/example";
import { chooseLanguage } from "@/i18n";
import { serve, show } from "@/testkit";
import { Chat } from "@/views/chat";
import { Home } from "@/views/home";
import { List } from "@/views/list";
import { Review } from "@/views/review";
import { Sessions } from "@/views/sessions";
import { Settings } from "@/views/settings";
import { SharedState } from "@/views/state";
import { TaskPage } from "@/views/task";
import { Team } from "@/views/team";
import { Usage } from "@/views/usage";

/** What everybody may send: looking at a diff is asked of a Coordinator, and one's own visits and views are one's own. */
const OWN = [
  /^\/projects\/shop\/views$/,
  /\/worktree\/diff$/,
  /^\/visits$/,
  /^\/sign-in/,
  /^\/access-tokens/,
  /^\/people\/olga\/password$/,
];

type Case = [view: ReactNode, at: string, path: string, there: string | RegExp, changing: (string | RegExp)[]];

/** Each with something that shows that it is there, and the names of what changes something. */
const VIEWS: Record<string, Case> = {
  home: [<Home />, "/", "/", "Buy a server", ["Approve", "More actions"]],
  team: [<Team />, "/p/shop/team", "/p/$projectId/team", "Ada", ["New agent", "Actions for Ada"]],
  sessions: [<Sessions />, "/p/shop/sessions", "/p/$projectId/sessions", "Show prices", ["End"]],
  state: [<SharedState />, "/p/shop/state", "/p/$projectId/state", "api/schema", []],
  list: [<List />, "/p/shop/list", "/p/$projectId/list", "Status", [/^Select/]],
  usage: [<Usage />, "/p/shop/usage", "/p/$projectId/usage", /Today/, []],
  task: [<TaskPage />, "/t/t1", "/t/$taskId", "High", ["Edit title", "Edit description", /^Send/, "Unblock"]],
  chat: [<Chat />, "/p/shop/chat", "/p/$projectId/chat", "Threads", ["New chat"]],
  review: [
    <Review />,
    "/p/shop/review/t1",
    "/p/$projectId/review/$taskId",
    "a.py",
    ["Discard", /^Request changes/, "Approve and merge"],
  ],
  projects: [<Settings />, "/settings?tab=projects", "/settings", "Corner shop", ["New project"]],
  project: [<Settings />, "/settings?tab=projects&q=shop", "/settings", "Sells things.", ["Save", "Pause", "Archive"]],
  agents: [<Settings />, "/settings?tab=agents", "/settings", "Ada", ["New agent"]],
  agent: [
    <Settings />,
    "/settings?tab=agents&agent=ada",
    "/settings",
    "Provider options",
    ["Save", "Renew passkey", "Deactivate"],
  ],
  keys: [<Settings />, "/settings?tab=keys", "/settings", "Night shift", ["New API key", "Revoke"]],
  people: [<Settings />, "/settings?tab=people", "/settings", "Vera", ["Add person", "Sign-in link", "Remove"]],
};

beforeEach(() => {
  chooseLanguage("en");
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const names = () => [...document.querySelectorAll("button, [role=menuitem], input[type=checkbox]")].map(nameOf);
const nameOf = (each: Element) => (each.getAttribute("aria-label") ?? each.textContent ?? "").trim();
const named = (wanted: string | RegExp) =>
  names().some((each) => (typeof wanted === "string" ? each === wanted || each === `${wanted}a` : wanted.test(each)));

describe.each(Object.entries(VIEWS))("%s", (_, [view, at, path, there, changing]) => {
  it("offers a viewer nothing that changes anything", async () => {
    const asked = serve(ANSWERS);
    await show(view, at, path, "viewer");
    await screen.findAllByText(there);
    for (const each of changing) expect(named(each), `${String(each)} among ${names().join(", ")}`).toBe(false);
    for (const each of document.querySelectorAll("button")) if (each.isConnected) fireEvent.click(each);
    for (const each of document.querySelectorAll("[role=dialog] button")) if (each.isConnected) fireEvent.click(each);
    const changes = asked.filter((each) => each.method !== "GET" && !OWN.some((own) => own.test(each.path)));
    expect(changes).toEqual([]);
  });

  if (changing.length > 0)
    it("offers it to an owner", async () => {
      serve(ANSWERS);
      await show(view, at, path, "owner");
      await screen.findAllByText(there);
      for (const each of changing)
        await waitFor(() => expect(named(each), `${String(each)} among ${names().join(", ")}`).toBe(true));
    });
});

describe("what a viewer sees in place of fields", () => {
  it("is the words of a form, without a field to write on", async () => {
    serve(ANSWERS);
    await show(<Settings />, "/settings?tab=agents&agent=ada", "/settings", "viewer");
    const dialog = await screen.findByRole("dialog");
    expect(dialog.querySelector("input, select, textarea")).toBeNull();
    expect(dialog.textContent).toContain("Reports toMika");
  });

  it("is the assignee and the priority of a task as words", async () => {
    serve(ANSWERS);
    await show(<TaskPage />, "/t/t1", "/t/$taskId", "viewer");
    await screen.findByText("High");
    expect(document.querySelector("select, textarea")).toBeNull();
  });
});

describe("a member", () => {
  it("is offered work, and not what owners decide", async () => {
    serve(ANSWERS);
    await show(<Team />, "/p/shop/team", "/p/$projectId/team", "member");
    fireEvent.keyDown(await screen.findByRole("button", { name: "Actions for Ada" }), { key: "Enter" });
    await screen.findByRole("menuitem", { name: "Open chat" });
    expect(names()).not.toContain("New agent");
    expect(screen.queryByRole("menuitem", { name: "Deactivate" })).toBeNull();
  });

  it("may pause a project, and neither save nor archive it", async () => {
    serve(ANSWERS);
    await show(<Settings />, "/settings?tab=projects&q=shop", "/settings", "member");
    await screen.findByRole("button", { name: "Pause" });
    expect(names()).not.toContain("Archive");
    expect(names()).not.toContain("Save");
  });
});
