import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { queryClient } from "@/api/queries";
import { DraftsOf } from "@/drafts";
import { chooseLanguage } from "@/i18n/words";
import { Composer } from "@/views/chat/composer";
import { Pending } from "@/views/chat/messages";
import { drop, useOutbox } from "@/views/chat/outbox";

const between = { projectId: "prj", agentId: "clerk" };
let sent: string[] = [];

function Page() {
  const outbox = useOutbox(between);
  return (
    <QueryClientProvider client={queryClient}>
      <Pending all={outbox} between={between} me="owner" />
      <DraftsOf person="olga">
        <Composer between={between} name="Clara" />
      </DraftsOf>
      <button type="button" onClick={() => outbox.forEach((each) => drop(between, each.key))}>
        empty
      </button>
    </QueryClientProvider>
  );
}

function answerWith(body: object, status: number): void {
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(((await request.json()) as { content: string }).content);
    return Response.json(body, { status });
  });
}

const line = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message to Clara" });

beforeEach(() => {
  sent = [];
  chooseLanguage("en");
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  answerWith({ message: { sequence: 1, content: "x" } }, 201);
});

afterEach(() => {
  if (screen.queryByText("empty") !== null) fireEvent.click(screen.getByText("empty"));
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

describe("the line to write on", () => {
  it("sends with Enter and is empty then; Shift+Enter begins a line", async () => {
    render(<Page />);
    await userEvent.type(line(), "one{Shift>}{Enter}{/Shift}two{Enter}");
    expect(sent).toEqual(["one\ntwo"]);
    expect(line().value).toBe("");
  });

  it("sends nothing while a Japanese word is being composed", async () => {
    render(<Page />);
    await userEvent.type(line(), "mitsumori");
    fireEvent.keyDown(line(), { key: "Enter", isComposing: true });
    expect(sent).toEqual([]);
    expect(line().value).toBe("mitsumori");
  });

  it("sends neither nothing nor too much", () => {
    render(<Page />);
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Send" });
    fireEvent.change(line(), { target: { value: "   " } });
    expect(button.disabled).toBe(true);
    fireEvent.change(line(), { target: { value: "x".repeat(4001) } });
    expect(button.disabled).toBe(true);
    expect(screen.getByText("4001 of 4000 characters")).toBeTruthy();
  });

  it("says when a message approves, also with the full-width marker", () => {
    render(<Page />);
    fireEvent.change(line(), { target: { value: "＠＠\nPaint it" } });
    expect(screen.getByText(/approves one task/)).toBeTruthy();
    fireEvent.change(line(), { target: { value: "What is this?\n@@ -1 +1 @@\n-a\n+b" } });
    expect(screen.queryByText(/approves one task/)).toBeNull();
    fireEvent.change(line(), { target: { value: " @@\n- Paint it" } });
    expect(screen.getByText(/approves one task/), "it is sent without the blanks around it").toBeTruthy();
  });

  it("keeps what is half written for when one comes back", () => {
    const { unmount } = render(<Page />);
    fireEvent.change(line(), { target: { value: "half" } });
    unmount();
    render(<Page />);
    expect(line().value).toBe("half");
  });

  it("shows what was refused with its reason, and sends it again when asked", async () => {
    answerWith({ code: "rateLimited", detail: "At most 30 a minute.", instruction: "Wait." }, 429);
    render(<Page />);
    await userEvent.type(line(), "hello{Enter}");
    await screen.findByText("Not sent: At most 30 a minute. Wait.");
    answerWith({ message: { sequence: 1, content: "hello" } }, 201);
    await userEvent.click(screen.getByRole("button", { name: "Resend" }));
    await waitFor(() => expect(screen.queryByText(/Not sent/)).toBeNull());
    expect(sent).toEqual(["hello", "hello"]);
  });
});
