import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { fullTask, serve, show } from "@/testkit";
import { TaskBudget } from "@/views/task/budget";

const limited = fullTask({ task_id: "t1", budget_usd: 3, budget_tokens: 20_000, version: 3 });

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("tells both limits of a task, and a field that is emptied is none any more", async () => {
  const asked = serve({ "PATCH /tasks/t1": { task: { ...limited, version: 4 } } });
  await show(<TaskBudget task={limited} />);
  expect(await screen.findByText("$3.00 · 20,000 tokens")).toBeTruthy();
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Edit the budget" }));
  await user.clear(screen.getByLabelText("Tokens, with its subtasks"));
  const usd = screen.getByLabelText("US dollars, with its subtasks");
  await user.clear(usd);
  await user.type(usd, "4.5");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByRole("button", { name: "Edit the budget" });
  expect(asked.find((each) => each.method === "PATCH")).toMatchObject({
    body: { budget_usd: 4.5, budget_tokens: null },
    version: '"3"',
  });
});

it("keeps what was written when the form goes away, and drops it when one cancels", async () => {
  serve({});
  const user = userEvent.setup();
  const edit = async () => user.click(await screen.findByRole("button", { name: "Edit the budget" }));
  const usd = () => screen.getByLabelText<HTMLInputElement>("US dollars, with its subtasks");
  await show(<TaskBudget task={limited} />);
  await edit();
  await user.type(usd(), "7");
  cleanup();
  await show(<TaskBudget task={limited} />);
  await edit();
  expect(usd().value).toBe("37");
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await edit();
  expect(usd().value).toBe("3");
});
