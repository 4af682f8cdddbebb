import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { Result, jsonOf } from "@/views/task/result";

describe("the result of a task", () => {
  afterEach(cleanup);

  it.each([[{ items: 3 }], ['{"items": 3}']])("is drawn as code where it is JSON: %o", (value) => {
    const { container } = render(<Result value={value} />);
    expect(container.querySelector("pre[data-language=json]")?.textContent).toBe('{\n  "items": 3\n}');
  });

  it("is prose where it is words", () => {
    const { container } = render(<Result value="All 3 items are counted." />);
    expect(container.querySelector("pre")).toBeNull();
    expect(screen.getByText("All 3 items are counted.")).toBeTruthy();
  });

  it.each(["[draft] see the plan", "{unfinished", "3 items"])(
    "is no JSON only because it begins like it: %s",
    (text) => {
      expect(jsonOf(text)).toBeNull();
    },
  );
});
