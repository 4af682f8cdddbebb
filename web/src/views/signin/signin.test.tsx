import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { StrictMode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { remember } from "@/app/back";
import { refusal, serve, show } from "@/testkit";
import { SignIn } from "@/views/signin";

const welcome = { "POST /sign-in": { person_id: "owner" }, "GET /me": { person_id: "owner", name: "Owner" } };
const door = (
  <StrictMode>
    <SignIn />
  </StrictMode>
);

/** What was said to come in: asking which ways there are is none of it. */
function tries(asked: { method: string; path: string; body: unknown }[]): unknown[] {
  return asked.filter((each) => each.method === "POST" && each.path === "/sign-in").map((each) => each.body);
}

beforeEach(() => sessionStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the door", () => {
  it("is opened once by the code of the address, which does not stay there", async () => {
    const asked = serve(welcome);
    const { href } = await show(door, "/sign-in#abc123", "/sign-in");
    await waitFor(() => expect(href()).toBe("/"));
    expect(tries(asked)).toEqual([{ code: "abc123" }]);
  });

  it("leads back to where one was, and never to another site", async () => {
    serve(welcome);
    remember("/p/shop/board?q=pay");
    const { href } = await show(door, "/sign-in#abc", "/sign-in");
    await waitFor(() => expect(href()).toBe("/p/shop/board?q=pay"));
    cleanup();
    remember("//evil.example");
    const second = await show(door, "/sign-in#def", "/sign-in");
    await waitFor(() => expect(second.href()).toBe("/"));
  });

  it("says how to get a link where there is no code", async () => {
    const asked = serve({});
    await show(door, "/sign-in", "/sign-in");
    expect(await screen.findByText("toryo open")).toBeTruthy();
    expect(tries(asked)).toEqual([]);
  });

  it("says the server's words for a link that was used, and how to go on", async () => {
    serve({
      "POST /sign-in": refusal(401, "invalidCredentials", "This link is not valid.", "Get a new one: toryo open"),
    });
    const { href } = await show(door, "/sign-in#used", "/sign-in");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("This link is not valid.");
    expect(alert.textContent).toContain("Get a new one");
    expect(href()).toBe("/sign-in");
  });

  it("takes a person and a password, and tells who is locked out for how long", async () => {
    const asked = serve({
      "POST /sign-in": refusal(429, "rateLimited", "Too many wrong passwords.", "Try again at 12:00."),
    });
    await show(door, "/sign-in", "/sign-in");
    const user = userEvent.setup();
    await user.type(await screen.findByLabelText("User ID"), " mika ");
    await user.type(screen.getByLabelText("Password"), "secret");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Try again at 12:00.");
    expect(tries(asked)).toEqual([{ person_id: "mika", password: "secret" }]);
  });

  it("asks the server nothing while a field is empty", async () => {
    const asked = serve({});
    await show(door, "/sign-in", "/sign-in");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in" }));
    expect((await screen.findByRole("alert")).textContent).toBe("Enter your user ID and password.");
    expect(tries(asked)).toEqual([]);
  });

  it("leads to the identity provider where there is one", async () => {
    serve({ "GET /sign-in": { password: true, provider: "id.example.org" } });
    await show(door, "/sign-in", "/sign-in");
    const way = await screen.findByRole("link", { name: "Continue to id.example.org" });
    expect(way.getAttribute("href")).toBe("/sign-in/oidc");
  });
});
