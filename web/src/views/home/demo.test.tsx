import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { refusal, serve, show } from "@/testkit";
import type { Need } from "@/api/model";
import { DemoPanel } from "@/views/home/demo";
import { forgetDismissed, hintsOf } from "@/views/home/hints";
import { Welcome } from "@/views/home/welcome";

const person = (login: string) => ({
  "GET /me": { person_id: "p", name: "P", login, version: "1", signed_in_by: null },
});
const here = { here: true, directory: "/data/demo", data_directory: "/data", projects: ["numbers"], waits_for: null };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the empty overview", () => {
  it("starts the demo team by one button", async () => {
    const asked = serve({ ...person("owner"), "POST /demo": here });
    await show(<Welcome />);
    await userEvent.click(await screen.findByRole("button", { name: "Start demo" }));
    await waitFor(() => expect(asked.filter((each) => each.method === "POST")).toHaveLength(1));
  });

  it("says why the server will not, and lets one try again", async () => {
    serve({
      ...person("owner"),
      "POST /demo": () => refusal(409, "conflict", "Names are taken.", "toryo demo --keep"),
    });
    await show(<Welcome />);
    const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Start demo" });
    await userEvent.click(button);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Names are taken.");
    expect(alert.textContent).toContain("toryo demo --keep");
    expect(button.disabled).toBe(false);
  });

  it("has a command for who is at the server's machine, and starts no second server", async () => {
    serve({ ...person("owner"), "GET /demo": { ...here, here: false, projects: [], data_directory: "/srv/my data" } });
    await show(<Welcome />);
    expect(await screen.findByText("toryo init && toryo apply --data-dir '/srv/my data'")).toBeTruthy();
    expect(screen.getByRole("link", { name: "New project" }).getAttribute("href")).toContain("/settings");
    expect(screen.queryByText(/toryo up/)).toBeNull();
  });

  it("has a command for who may not make projects here", async () => {
    serve({});
    await show(<Welcome />, "/", "/", "member");
    expect(await screen.findByText("toryo demo --keep")).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("button", { name: "Start demo" })).toBeNull());
  });
});

describe("the demo that is here", () => {
  it("says why nobody works on it yet", async () => {
    serve({ ...person("owner"), "GET /demo": { ...here, waits_for: "Start one: toryo coordinator" } });
    await show(<DemoPanel projectId={null} needs={[]} />);
    expect((await screen.findByRole("status")).textContent).toContain("toryo coordinator");
  });

  it("is put away when that is confirmed", async () => {
    const asked = serve({ ...person("owner"), "GET /demo": here, "DELETE /demo": { projects: ["numbers"] } });
    await show(<DemoPanel projectId={null} needs={[]} />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole("button", { name: "Remove demo" }));
    expect(asked.some((each) => each.method === "DELETE")).toBe(false);
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: "Remove demo" }));
    await waitFor(() => expect(asked.some((each) => each.method === "DELETE")).toBe(true));
  });

  it("is not spoken of in a project that is not of it, or where it is not", async () => {
    serve({ ...person("owner"), "GET /demo": here });
    const { container } = await show(<DemoPanel projectId="shop" needs={[]} />);
    await waitFor(() => expect(fetch).toBeDefined());
    expect(container.textContent).toBe("");
  });
});

const need = (kind: string, agent_id: string, project_id = "numbers"): Need => ({
  ...{ kind, key: `${kind} ${agent_id}`, project_id, task_id: `tsk_${agent_id}`, agent_id },
  ...{
    title: "Order cups",
    text: "",
    since: "2026-01-01T00:00:00Z",
    actions: [],
    request: null,
    questions: [],
    path: "/",
  },
});

describe("the hints of the demo", () => {
  const agents = [
    { agent_id: "iris", name: "Iris" },
    { agent_id: "theo", name: "Theo" },
  ];
  const needs = [
    need("approval", "iris"),
    need("message", "iris"), // says that it asked for approval
    need("message", "theo"),
    need("review", "lead"),
    need("review", "ada", "shop"),
  ];
  const hints = async () => within(await screen.findByRole("list", { name: "Where to look" })).getAllByRole("listitem");
  const open = () => {
    serve({ ...person("owner"), "GET /demo": here, "GET /agents": { agents } });
    return show(<DemoPanel projectId={null} needs={needs} />);
  };

  it("name who needs what, with the key or the way there, and four at most", async () => {
    await open();
    await screen.findByText(/Iris asks for approval.*press a/);
    const [, question, review, watch] = (await hints()).map((each) => within(each));
    expect(question?.getByText(/Theo has a question/)).toBeTruthy();
    expect(question?.getByRole("link").getAttribute("href")).toBe("/p/numbers/chat?agent=theo");
    expect(review?.getByRole("link").getAttribute("href")).toBe("/p/numbers/review/tsk_lead");
    expect(watch?.getAllByRole("link")).toHaveLength(4);
    expect(await hints()).toHaveLength(4);
  });

  it("are dismissed one by one, and stay so", async () => {
    await open();
    const crosses = await screen.findAllByRole("button", { name: "Dismiss hint" });
    await userEvent.click(crosses[1] as HTMLElement);
    expect(await hints()).toHaveLength(3);
    cleanup();
    await open();
    expect(await hints()).toHaveLength(3);
    expect(screen.queryByText(/Theo has a question/)).toBeNull();
  });

  it("come again with the next demo", async () => {
    localStorage.setItem("toryo.demo.hints", JSON.stringify(["watch"]));
    forgetDismissed();
    await open();
    expect(await hints()).toHaveLength(4);
  });

  it("are none of other projects", () => {
    expect(hintsOf([need("approval", "ada", "shop")], ["numbers"]).map((each) => each.kind)).toEqual(["watch"]);
  });
});
