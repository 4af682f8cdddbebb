import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import { fullTask, refusal, serve, show } from "@/testkit";
import { EditableText } from "@/views/task/editable";

const base = fullTask({ task_id: "t1", title: "Old words", description: "Old text", version: 3 });

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function rewrite(field: "Title" | "Description", words: string) {
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: `Edit ${field.toLowerCase()}` }));
  const box = screen.getByLabelText(field);
  await user.clear(box);
  await user.type(box, words);
  return user;
}

describe("editing a task where it stands", () => {
  it("saves with the version one has read", async () => {
    const asked = serve({ "PATCH /tasks/t1": { task: { ...base, title: "New words", version: 4 } } });
    await show(<EditableText task={base} field="title" />);
    const user = await rewrite("Title", "New words");
    await user.keyboard("{Enter}");
    await screen.findByRole("button", { name: "Edit title" });
    expect(asked.find((each) => each.method === "PATCH")).toMatchObject({
      body: { title: "New words" },
      version: '"3"',
    });
  });

  it("is no conflict where somebody changed something else meanwhile", async () => {
    let version = 5;
    const asked = serve({
      "PATCH /tasks/t1": ({ version: seen }) =>
        seen === `"${version}"`
          ? { task: { ...base, description: "Mine", version: ++version } }
          : refusal(409, "conflict", "Changed meanwhile."),
      "GET /tasks/t1": () => ({ task: { ...base, status: "in_progress", version } }),
    });
    await show(<EditableText task={base} field="description" />);
    const user = await rewrite("Description", "Mine");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await screen.findByRole("button", { name: "Edit description" });
    expect(screen.queryByRole("alert")).toBeNull();
    expect(asked.filter((each) => each.method === "PATCH").map((each) => each.version)).toEqual(['"3"', '"5"']);
  });

  it("shows both texts where the same field was changed, and keeps mine when one says so", async () => {
    const theirs = { ...base, description: "Theirs", version: 7 };
    const asked = serve({
      "PATCH /tasks/t1": ({ version }) =>
        version === '"7"' ? { task: { ...theirs, description: "Mine", version: 8 } } : refusal(409, "conflict", "No."),
      "GET /tasks/t1": { task: theirs },
    });
    await show(<EditableText task={base} field="description" />);
    const user = await rewrite("Description", "Mine");
    await user.click(screen.getByRole("button", { name: "Save" }));
    const both = within(await screen.findByRole("alert"));
    expect(both.getByText("Theirs")).toBeTruthy();
    expect(both.getByText("Mine")).toBeTruthy();
    await user.click(both.getByRole("button", { name: "Keep mine" }));
    await screen.findByRole("button", { name: "Edit description" });
    expect(asked.filter((each) => each.method === "PATCH").at(-1)).toMatchObject({
      body: { description: "Mine" },
      version: '"7"',
    });
  });

  it("says why it was refused, and what was written stays in the field", async () => {
    serve({
      "PATCH /tasks/t1": refusal(403, "permissionDenied", "You may read it, but not change it.", "Ask an owner."),
    });
    await show(<EditableText task={base} field="title" />);
    const user = await rewrite("Title", "Mine");
    await user.keyboard("{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("You may read it, but not change it.");
    expect(screen.getByLabelText<HTMLInputElement>("Title").value).toBe("Mine");
  });

  it("is left by Escape without asking the server", async () => {
    const asked = serve({});
    await show(<EditableText task={base} field="title" />);
    const user = await rewrite("Title", "Never mind");
    await user.keyboard("{Escape}");
    expect(screen.getByRole("heading").textContent).toBe("Old words");
    expect(asked.filter((each) => each.method === "PATCH")).toEqual([]);
  });

  it("offers what was not saved, but not what the task says already", async () => {
    serve({});
    const shown = await show(<EditableText task={base} field="description" />);
    const user = await rewrite("Description", "Sent before a reload");
    await user.keyboard("{Escape}");
    expect(screen.getByText("You have an unsaved draft.")).toBeTruthy();
    shown.unmount();
    await show(<EditableText task={{ ...base, description: "Sent before a reload" }} field="description" />);
    await screen.findByRole("button", { name: "Edit description" });
    expect(screen.queryByText("You have an unsaved draft.")).toBeNull();
  });
});
