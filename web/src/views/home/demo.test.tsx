import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { refusal, serve, show } from "@/testkit";
import { DemoPanel } from "@/views/home/demo";
import { Welcome } from "@/views/home/welcome";

const person = (login: string) => ({
  "GET /me": { person_id: "p", name: "P", login, version: "1", signed_in_by: null },
});
const here = { here: true, directory: "/data/demo", projects: ["numbers"], waits_for: null };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the empty overview", () => {
  it("starts the demo team by one button", async () => {
    const asked = serve({ ...person("owner"), "POST /demo": here });
    await show(<Welcome />);
    await userEvent.click(await screen.findByRole("button", { name: "Start demo" }));
    await vi.waitFor(() => expect(asked.filter((each) => each.method === "POST")).toHaveLength(1));
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

  it("has a command for who may not make projects here", async () => {
    serve({});
    await show(<Welcome />, "/", "/", "member");
    expect(await screen.findByText("toryo demo --keep")).toBeTruthy();
    await vi.waitFor(() => expect(screen.queryByRole("button", { name: "Start demo" })).toBeNull());
  });
});

describe("the demo that is here", () => {
  it("says why nobody works on it yet", async () => {
    serve({ ...person("owner"), "GET /demo": { ...here, waits_for: "Start one: toryo coordinator" } });
    await show(<DemoPanel projectId={null} />);
    expect((await screen.findByRole("status")).textContent).toContain("toryo coordinator");
  });

  it("is put away when that is confirmed", async () => {
    const asked = serve({ ...person("owner"), "GET /demo": here, "DELETE /demo": { projects: ["numbers"] } });
    await show(<DemoPanel projectId={null} />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole("button", { name: "Remove demo" }));
    expect(asked.some((each) => each.method === "DELETE")).toBe(false);
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: "Remove demo" }));
    await vi.waitFor(() => expect(asked.some((each) => each.method === "DELETE")).toBe(true));
  });

  it("is not spoken of in a project that is not of it, or where it is not", async () => {
    serve({ ...person("owner"), "GET /demo": here });
    const { container } = await show(<DemoPanel projectId="shop" />);
    await vi.waitFor(() => expect(fetch).toBeDefined());
    expect(container.textContent).toBe("");
  });
});
