import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useLayoutEffect, useState, type ReactNode } from "react";
import { afterEach, expect, it } from "vitest";

import { show } from "@/testkit";
import { Button, Dialog, Menu, MenuItem } from "@/ui";

afterEach(cleanup);

const escape = (given: KeyboardEventInit = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape", ...given });

/** Somebody who presses Escape as soon as this is drawn. */
function Hasty() {
  useLayoutEffect(() => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
  }, []);
  return null;
}

function Opened({ title, children }: { title: string; children?: ReactNode }) {
  const [open, setOpen] = useState(true);
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title={title}>
      {children}
    </Dialog>
  );
}

const opened = () => screen.queryAllByRole("dialog", { hidden: true }).map((each) => each.textContent);

it("Escape closes a dialog in the moment in which it is drawn", async () => {
  await show(
    <Opened title="One">
      <Hasty />
    </Opened>,
  );
  await waitFor(() => expect(opened()).toEqual([]));
});

it("Escape closes the dialog on top and leaves the one below", async () => {
  function Above({ hasty }: { hasty: boolean }) {
    const [asks, setAsks] = useState(false);
    return (
      <>
        <button onClick={() => setAsks(true)}>ask</button>
        {asks && <Opened title="Two">{hasty && <Hasty />}</Opened>}
      </>
    );
  }
  for (const hasty of [true, false]) {
    await show(
      <Opened title="One">
        <Above hasty={hasty} />
      </Opened>,
    );
    fireEvent.click(await screen.findByText("ask"));
    if (!hasty) {
      expect(opened()).toEqual(["Oneask", "Two"]);
      escape();
    }
    await waitFor(() => expect(opened()).toEqual(["Oneask"]));
    cleanup();
  }
});

it("Escape closes a menu in the moment in which it is drawn, and not the dialog around it", async () => {
  await show(
    <Opened title="One">
      <Menu trigger={<Button>more</Button>}>
        <MenuItem onSelect={() => undefined}>act</MenuItem>
        <Hasty />
      </Menu>
    </Opened>,
  );
  fireEvent.keyDown(await screen.findByRole("button", { name: "more" }), { key: "Enter" });
  await waitFor(() => expect(screen.getByRole("button", { name: "more" }).dataset.state).toBe("closed"));
  expect(opened()).toEqual(["Onemore"]);
});

it("Escape that ends the writing of a word in Japanese closes nothing", async () => {
  await show(<Opened title="One" />);
  escape({ isComposing: true });
  expect(opened()).toEqual(["One"]);
  escape();
  await waitFor(() => expect(opened()).toEqual([]));
});

it("all that Radix draws over the page is closed so", () => {
  const sources = import.meta.glob<string>("/src/**/*.tsx", { query: "?raw", import: "default", eager: true });
  const over = Object.entries(sources).filter(([, text]) =>
    /@radix-ui\/react-(dialog|popover|dropdown-menu)/.test(text),
  );
  expect(over.length).toBeGreaterThan(0);
  expect(over.filter(([, text]) => !text.includes("<EscapeCloses")).map(([path]) => path)).toEqual([]);
});
