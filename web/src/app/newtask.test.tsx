import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { NewTaskDialog } from "@/app/newtask";
import type { NewTaskFor } from "@/app/overlays";
import { agent, shop } from "@/example";
import { chooseLanguage } from "@/i18n";
import { card, fullTask, press, refusal, serve, show, write, type Asked } from "@/testkit";

const lead = agent({ agent_id: "mika", name: "Mika", role: "manager" });
const taro = agent({ agent_id: "taro", name: "Taro", reports_to: "mika" });
const gone = agent({ agent_id: "gone", name: "Gone", status: "inactive" });
const yard = { ...shop, id: "yard", project_id: "yard", name: "Yard" };
const attic = { ...shop, id: "attic", project_id: "attic", name: "Attic", status: "archived" as const };
const filed = ({ body }: Asked) => ({ task: fullTask({ task_id: "new", ...(body as object) }) });
const answers = {
  "GET /projects": { projects: [attic, shop, yard] },
  "GET /projects/shop/members": { agents: [lead, taro, gone] },
  "GET /projects/yard/members": { agents: [taro] },
  "GET /projects/shop/board": { tasks: [card({ task_id: "t1", title: "Show prices" })], last_event: 1 },
  "GET /projects/yard/board": { tasks: [], last_event: 1 },
  "GET /task-search": { tasks: [] },
  "POST /projects/shop/tasks": filed,
  "POST /projects/yard/tasks": filed,
};

beforeEach(() => {
  localStorage.clear();
  chooseLanguage("en");
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = async (wanted: NewTaskFor = {}, more: Parameters<typeof serve>[0] = {}) => {
  const asked = serve({ ...answers, ...more });
  const page = await show(<NewTaskDialog wanted={wanted} />, "/p/shop/board", "/p/$projectId/board");
  await screen.findByLabelText("Title");
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("Assignee").value).toBe("mika"));
  return { ...page, posts: () => asked.filter((each) => each.method === "POST").map((each) => each.body) };
};
const title = () => screen.getByLabelText<HTMLTextAreaElement>("Title");
const type = (words: string) => {
  fireEvent.change(title(), { target: { value: words, selectionStart: words.length, selectionEnd: words.length } });
};
const leave = () => fireEvent.blur(title());
const key = (name: string, more: object = {}) => fireEvent.keyDown(title(), { key: name, ...more });
const said = { description: "", priority: "medium", parent_task_id: null, status: "todo" };

describe("a new task", () => {
  it("is for the only agent at the top of the team, and ⌘Enter files it", async () => {
    const { posts } = await open();
    type("Fix it");
    fireEvent.keyDown(screen.getByLabelText("Description"), { key: "Enter", metaKey: true });
    await screen.findByText("Created: Fix it");
    expect(posts()).toEqual([{ ...said, title: "Fix it", assignee_id: "mika" }]);
  });

  it("says in its line for whom it is, how urgent, after what, and ⇧⌘Enter starts it", async () => {
    const { posts } = await open();
    type('Fix it @taro !high after "show prices"');
    const chips = await screen.findByRole("list", { name: "What the line says" });
    await within(chips).findByText("After: Show prices");
    expect(within(chips).getByText("Taro")).toBeTruthy();
    expect(screen.getByLabelText<HTMLSelectElement>("Assignee").value).toBe("taro");
    key("Enter", { ctrlKey: true, shiftKey: true });
    await screen.findByText("Created: Fix it");
    expect(posts()).toEqual([
      { ...said, title: "Fix it", assignee_id: "taro", priority: "high", dependencies: ["t1"], status: "in_progress" },
    ]);
  });

  it("is completed by Tab, and nobody is suggested who is deactivated", async () => {
    await open();
    type("Fix it @");
    const names = (await screen.findAllByRole("option")).map((each) => each.textContent);
    expect(names.join()).not.toContain("Gone");
    key("ArrowDown");
    key("Tab");
    expect(title().value).toBe("Fix it @Taro ");
  });

  it("is not filed while a name is unknown; the nearest one is offered", async () => {
    const { posts } = await open();
    type("Fix it @tarro");
    expect(screen.queryByRole("alert")).toBeNull(); // it is still being typed
    key("Enter");
    expect((await screen.findByRole("alert")).textContent).toContain("There is no agent “tarro” in this project.");
    expect(posts()).toEqual([]);
    await press("Use Taro");
    expect(title().value).toBe("Fix it @Taro");
  });

  it("is several where there are several lines; what is refused stays with its reason", async () => {
    const { posts } = await open(
      {},
      {
        "POST /projects/shop/tasks": (asked: Asked) =>
          (asked.body as { title: string }).title === "Plane"
            ? refusal(409, "limitReached", "Too many.")
            : filed(asked),
      },
    );
    type("- Saw @taro\n- Plane\n- Sand");
    leave();
    await press(/^Create 3 tasks/);
    await screen.findByText("Too many.");
    expect(title().value).toBe("Plane\nSand");
    expect(posts().map((each) => (each as { title: string }).title)).toEqual(["Saw", "Plane"]);
  });

  it("is started as far as its agent can work on it; the others wait in To do", async () => {
    let started = false;
    const { posts } = await open(
      {},
      {
        "POST /projects/shop/tasks": (asked: Asked) => {
          const starts = (asked.body as { status: string }).status === "in_progress";
          if (starts && started) return refusal(409, "limitReached", "Mika has 1 main task in progress.");
          started ||= starts;
          return filed(asked);
        },
      },
    );
    type("Saw\nPlane");
    key("Enter", { metaKey: true, shiftKey: true });
    await screen.findByText("2 tasks created");
    await screen.findByText("Mika has 1 main task in progress.");
    expect(posts().map((each) => (each as { status: string }).status)).toEqual(["in_progress", "in_progress", "todo"]);
  });

  it("can be for another project, whose agents it is then for; no archived one is offered", async () => {
    const { posts } = await open();
    type("Fix it");
    const projects = screen.getByLabelText<HTMLSelectElement>("Project");
    expect([...projects.options].map((each) => each.text)).toEqual(["Corner shop", "Yard"]);
    fireEvent.change(projects, { target: { value: "yard" } });
    await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("Assignee").value).toBe("taro"));
    await press(/^Create task/);
    await screen.findByText("Created: Fix it");
    expect(posts()).toEqual([{ ...said, title: "Fix it", assignee_id: "taro" }]);
  });

  it("leaves its form open for another one where that is wanted", async () => {
    const { posts } = await open();
    fireEvent.click(screen.getByRole("checkbox", { name: "Create another" }));
    type("Fix it");
    await press(/^Create task/);
    await waitFor(() => expect(title().value).toBe(""));
    type("And that");
    await press(/^Create task/);
    await screen.findByText("Created: And that");
    expect(posts()).toHaveLength(2);
  });

  it("cannot be started while nobody is to do it", async () => {
    await open();
    type("Fix it");
    fireEvent.change(screen.getByLabelText("Assignee"), { target: { value: "" } });
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /^Start now/ }).disabled).toBe(true);
  });

  it("can be for anyone who is free", async () => {
    const { posts } = await open();
    type("Fix it");
    fireEvent.change(screen.getByLabelText("Assignee"), { target: { value: "any" } });
    await press(/^Create task/);
    await screen.findByText("Created: Fix it");
    expect(posts()).toEqual([{ ...said, title: "Fix it", assignee_id: "any" }]);
  });

  it("takes the assignee that is chosen below instead of the one in its line", async () => {
    const { posts } = await open();
    type("Fix it @taro now");
    leave();
    fireEvent.change(screen.getByLabelText("Assignee"), { target: { value: "mika" } });
    expect(title().value).toBe("Fix it now");
    await press(/^Create task/);
    await screen.findByText("Created: Fix it now");
    expect(posts()).toEqual([{ ...said, title: "Fix it now", assignee_id: "mika" }]);
  });

  it("does not file while letters are still being composed", async () => {
    const { posts } = await open();
    type("なおす");
    key("Enter", { isComposing: true });
    expect(posts()).toEqual([]);
    write("Description", "x");
  });
});
