import { describe, expect, it } from "vitest";

import { parsed } from "@/api/filter";

import LINES from "../../../tests/domain/task_filter_lines.json";

describe("the line of a filter", () => {
  it.each(LINES)("means the same here and on the server: $line", ({ words, line, ...wanted }) => {
    const { text, ...found } = parsed(line);
    expect(found).toEqual(wanted);
    expect(text.toLowerCase().split(/\s+/).filter(Boolean)).toEqual(words);
  });
});
