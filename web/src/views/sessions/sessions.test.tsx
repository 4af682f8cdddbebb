import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ANSWERS, AT, LATER, session } from "@/example";
import { chooseLanguage } from "@/i18n";
import { press, refusal, serve, show, write } from "@/testkit";
import { Sessions } from "@/views/sessions";
import { browserName } from "@/views/sessions/browsers";

const sessions = () => show(<Sessions />, "/p/shop/sessions", "/p/$projectId/sessions");
const REASON = "Reason (recorded in the audit log)";

beforeEach(() => chooseLanguage("en"));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the sessions of agents", () => {
  it("say who works at what, with which model", async () => {
    serve(ANSWERS);
    await sessions();
    expect(await screen.findByText("Show prices")).toBeTruthy();
    expect(screen.getByText("Ada")).toBeTruthy();
    expect(screen.getByText("claude · oak-2")).toBeTruthy();
  });

  it("say that an agent was not heard of since the server started, in both languages", async () => {
    serve({ ...ANSWERS, "GET /sessions": { sessions: [{ ...session, confirmed: false }] } });
    await sessions();
    expect(await screen.findByText(/Not confirmed, last seen/)).toBeTruthy();
    cleanup();
    await chooseLanguage("ja");
    await sessions();
    expect(await screen.findByText(/稼働未確認/)).toBeTruthy();
  });

  it("are ended by force after asking, with the reason", async () => {
    const asked = serve({ ...ANSWERS, "DELETE /sessions/ses_1": { ended: true } });
    await sessions();
    await press("End");
    expect(asked.some((each) => each.method === "DELETE")).toBe(false);
    const dialog = await screen.findByRole("dialog");
    write(REASON, "It loops", dialog);
    await press("End", dialog);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(asked.find((each) => each.method === "DELETE")).toMatchObject({
      path: "/sessions/ses_1",
      query: "?reason=It%20loops",
    });
  });

  it("stay, with the server's words and what was typed, where that is refused", async () => {
    serve({
      ...ANSWERS,
      "DELETE /sessions/ses_1": refusal(403, "permissionDenied", "Ada is not in your projects.", "Ask an owner."),
    });
    await sessions();
    await press("End");
    const dialog = await screen.findByRole("dialog");
    write(REASON, "It loops", dialog);
    await press("End", dialog);
    const alert = await within(dialog).findByRole("alert");
    expect(alert.textContent).toContain("Ada is not in your projects.");
    expect(alert.textContent).toContain("Ask an owner.");
    expect(within(dialog).getByLabelText<HTMLInputElement>(REASON).value).toBe("It loops");
  });

  it("teach what a session is where there is none", async () => {
    serve({ ...ANSWERS, "GET /sessions": { sessions: [] } });
    await sessions();
    await waitFor(() => expect(screen.queryByText("Ada")).toBeNull());
    expect(screen.queryByRole("button", { name: "End" })).toBeNull();
  });
});

describe("my browsers", () => {
  const other = {
    sign_in_id: "s2",
    login: "owner",
    how: "password",
    browser: "Mozilla/5.0 (Macintosh; Mac OS X) Firefox/140",
    created_at: AT,
    expires_at: LATER,
    this_one: false,
  };

  it("are signed out one by one, and never the one I look with", async () => {
    const asked = serve({ ...ANSWERS, "GET /sign-ins": { sign_ins: [other] }, "DELETE /sign-ins/s2": {} });
    await sessions();
    await screen.findByText("Firefox · macOS");
    await press("Sign out");
    await waitFor(() => expect(asked.some((each) => each.path === "/sign-ins/s2")).toBe(true));
  });

  it("have a name where they said one that is known", () => {
    expect(browserName("Mozilla/5.0 (X11; Linux) AppleWebKit Chrome/140 Safari/537")).toBe("Chrome · Linux");
    expect(browserName("curl/8")).toBe("curl/8");
    expect(browserName(null)).toBeNull();
  });
});
