import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { BoardTask } from "@/api/model";
import { chooseLanguage } from "@/i18n";

import { Inspector } from "./inspector";

const task = (task_id: string, title: string, dependencies: string[] = []) =>
  ({ task_id, title, dependencies, status: "todo", blocked_reason: null }) as unknown as BoardTask;
const TASKS = [task("a", "Saw"), task("b", "Sand", ["a"]), task("c", "Varnish", ["b"]), task("d", "Sweep the yard")];

afterEach(cleanup);

function shown() {
  chooseLanguage("en");
  const acts = { onOpen: vi.fn(), onClose: vi.fn(), onChoose: vi.fn(), onLink: vi.fn(), onUnlink: vi.fn() };
  render(<Inspector task={TASKS[1] as BoardTask} tasks={TASKS} {...acts} />);
  return acts;
}

describe("links without a mouse", () => {
  it("are made by words: this task waits for what is found", async () => {
    const { onLink } = shown();
    await userEvent.type(screen.getByRole("searchbox"), "yard{Tab}{Enter}");
    expect(onLink).toHaveBeenCalledWith("d", "b");
  });

  it("are not offered twice, nor to itself", async () => {
    shown();
    await userEvent.type(screen.getByRole("searchbox"), "sa");
    expect(screen.queryAllByRole("button", { name: /Sand$/ })).toHaveLength(0);
    expect(screen.getAllByText("Saw")).toHaveLength(1);
  });

  it("are cut on both sides, each in its own direction", async () => {
    const { onUnlink } = shown();
    await userEvent.click(screen.getByRole("button", { name: "Remove dependency on Saw" }));
    await userEvent.click(screen.getByRole("button", { name: "Remove dependency on Varnish" }));
    expect(onUnlink.mock.calls).toEqual([
      ["a", "b"],
      ["b", "c"],
    ]);
  });
});
