import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";

import { Refused } from "@/api/client";
import { press, show, write } from "@/testkit";
import { AskWords, Confirm, Dialog, initials, useToast } from "@/ui";

const refused = new Refused({
  status: 409,
  code: "conflict",
  title: "",
  detail: "It is held by Ada.",
  instruction: "Ask Ada.",
});

afterEach(cleanup);

describe("a toast", () => {
  function Page() {
    const toast = useToast();
    const [open, setOpen] = useState(true);
    return (
      <Dialog open={open} onClose={() => setOpen(false)} title="Over the page">
        <button type="button" onClick={() => toast.failed(refused)}>
          try
        </button>
      </Dialog>
    );
  }

  it("is heard and reached while a dialog hides the page behind it", async () => {
    await show(<Page />);
    await press("try");
    const alert = await screen.findByRole("alert"); // by role: what is hidden from screen readers is not found
    expect(alert.textContent).toContain("It is held by Ada.");
    expect(alert.textContent).toContain("Ask Ada.");
    expect(alert.closest("[aria-hidden=true]")).toBeNull();
  });

  it("is closed without closing the dialog below it", async () => {
    await show(<Page />);
    await press("try");
    const alert = await screen.findByRole("alert");
    await new Promise((heard) => window.setTimeout(heard)); // Radix listens from the next turn on
    fireEvent.pointerDown(alert);
    await press("Close", alert);
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
    expect(screen.getByRole("dialog")).toBeTruthy();
  });
});

describe("a dialog that asks before an act", () => {
  it("stays open with the server's reason, and closes once it is done", async () => {
    let answer = () => Promise.reject(refused) as Promise<unknown>;
    function Page() {
      const [open, setOpen] = useState(true);
      return (
        <Confirm open={open} title="Sure?" action="Do it" onClose={() => setOpen(false)} onConfirm={() => answer()}>
          It cannot be taken back.
        </Confirm>
      );
    }
    await show(<Page />);
    await press("Do it");
    expect((await screen.findByRole("alert")).textContent).toContain("It is held by Ada.");
    answer = () => Promise.resolve();
    await press("Do it");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("keeps the words that go with an act when it is refused", async () => {
    const ask = () => Promise.reject(refused);
    await show(
      <AskWords title="Reject" label="Why?" action="Reject it" required onSaid={ask} onClose={() => undefined} />,
    );
    await screen.findByRole("dialog");
    write("Why?", "Too dear");
    await press("Reject it");
    expect((await screen.findByRole("alert")).textContent).toContain("Ask Ada.");
    expect(screen.getByLabelText<HTMLTextAreaElement>("Why?").value).toBe("Too dear");
  });
});

describe("the letters of a name", () => {
  it.each([
    ["Hana (lead)", "HL"],
    ["Ada Lovelace", "AL"],
    ["code-reviewer", "CR"],
    ["sora", "SO"],
    ["花子", "花子"],
    ["(…)", "(…"],
  ])("of %s are %s", (name, letters) => expect(initials(name)).toBe(letters));
});
