import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { StrictMode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { remember } from "@/app/back";
import { keepPageSecret, pageSecret } from "@/api/secret";
import { press, refusal, serve, show, write } from "@/testkit";
import { Prove, SignIn } from "@/views/signin";

const welcome = {
  "POST /sign-in": { person_id: "owner", page_secret: "tps_1" },
  "GET /me": { person_id: "owner", name: "Owner" },
};
const door = (
  <StrictMode>
    <SignIn />
  </StrictMode>
);

/** What was said to come in: asking which ways there are is none of it. */
function tries(asked: { method: string; path: string; body: unknown }[]): unknown[] {
  return asked.filter((each) => each.method === "POST" && each.path === "/sign-in").map((each) => each.body);
}

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});
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
    expect(pageSecret()).toBe("tps_1");
  });

  it("asks before a link of somebody else signs out who is signed in", async () => {
    const [person, instead_of] = [
      { person_id: "mem", name: "Mem" },
      { person_id: "owner", name: "Owner" },
    ];
    const conflict = Response.json({ status: 409, code: "conflict", person, instead_of }, { status: 409 });
    const asked = serve({
      ...welcome,
      "POST /sign-in": ({ body }) => ("instead_of" in (body as object) ? { page_secret: "tps_2" } : conflict),
    });
    keepPageSecret("tps_1");
    const stays = await show(door, "/sign-in#abc", "/sign-in");
    expect(await screen.findByText("You are signed in as Owner. Sign in as Mem?")).toBeTruthy();
    await press("Stay signed in as Owner");
    await waitFor(() => expect(stays.href()).toBe("/"));
    expect([tries(asked), pageSecret()]).toEqual([[{ code: "abc" }], "tps_1"]);
    cleanup();
    await show(door, "/sign-in#abc", "/sign-in");
    await press("Sign in as Mem");
    await waitFor(() => expect(pageSecret()).toBe("tps_2"));
    expect(tries(asked).at(-1)).toEqual({ code: "abc", instead_of: "owner" });
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

  it("leads to the identity provider where there is one, and keeps what completes its answer", async () => {
    const asked = serve({
      ...welcome,
      "GET /sign-in": { password: true, provider: "id.example.org" },
      "POST /sign-in/oidc": { address: "https://id.example.org/authorize?x", page: "kept" },
    });
    const assign = vi.fn();
    const real = location;
    vi.stubGlobal("location", { ...location, origin: location.origin, assign });
    await show(door, "/sign-in", "/sign-in");
    await press("Continue to id.example.org");
    await waitFor(() => expect(assign).toHaveBeenCalledWith("https://id.example.org/authorize?x"));
    vi.stubGlobal("location", real);
    cleanup();
    const { href } = await show(door, "/sign-in#provider.back", "/sign-in");
    await waitFor(() => expect(href()).toBe("/"));
    expect(tries(asked)).toEqual([{ code: "kept.back" }]);
    cleanup();
    await show(door, "/sign-in#provider.forged", "/sign-in");
    await waitFor(() => expect(tries(asked).at(-1)).toEqual({ code: ".forged" }));
  });
});

describe("who must prove again who they are", () => {
  it("gives a password, and nothing of what is open is lost", async () => {
    const asked = serve({ ...welcome, "GET /sign-in": { password: true, provider: null } });
    const done = vi.fn();
    await show(<Prove done={done} />);
    await screen.findByLabelText("Password");
    write("Password", "secret");
    await press("Sign in");
    await waitFor(() => expect(done).toHaveBeenCalledWith(true));
    expect(tries(asked)).toEqual([{ person_id: "olga", password: "secret" }]);
  });

  it("may have opened a link in another tab, or does not want to", async () => {
    serve({ "GET /sign-in": { password: false, provider: null } });
    const done = vi.fn();
    await show(<Prove done={done} />);
    expect(await screen.findByText("toryo open")).toBeTruthy();
    expect(screen.queryByLabelText("Password")).toBeNull();
    window.dispatchEvent(new StorageEvent("storage", { key: "toryo.proved" }));
    expect(done).toHaveBeenLastCalledWith(true);
    await press("Close");
    expect(done).toHaveBeenLastCalledWith(false);
  });
});
