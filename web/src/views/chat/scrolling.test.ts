import { describe, expect, it } from "vitest";

import { atBottom, standing } from "@/views/chat/scrolling";

const position = { scrollTop: 400, scrollHeight: 1000, clientHeight: 500 };

describe("where the reader stands", () => {
  it("is the bottom, a finger's breadth included", () => {
    expect(atBottom({ ...position, scrollTop: 470 })).toBe(true);
    expect(atBottom(position)).toBe(false);
  });

  it("stays at the bottom when a message comes, for who was there", () => {
    expect(standing({ ...position, first: 1, followed: true }, 1200, 1)).toBe(1200);
  });

  it("stays where one reads when a message comes below", () => {
    expect(standing({ ...position, first: 1, followed: false }, 1200, 1)).toBe(400);
  });

  it("stays with the same message when older ones come in above", () => {
    expect(standing({ ...position, first: 51, followed: false }, 1600, 1)).toBe(1000);
  });
});
