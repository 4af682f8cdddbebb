import { renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { useMoves } from "./moves";

function log() {
  const box = document.createElement("div");
  Object.defineProperties(box, { scrollHeight: { value: 1000 }, clientHeight: { value: 200 } });
  box.scrollTop = 800;
  const told: boolean[] = [];
  const at = { current: box };
  renderHook(() => useMoves(at, (following) => told.push(following)));
  return {
    told,
    wheel: (deltaY: number) => box.dispatchEvent(new WheelEvent("wheel", { deltaY })),
    scroll: (top: number) => {
      box.scrollTop = top;
      box.dispatchEvent(new Event("scroll"));
    },
  };
}

describe("a log that is scrolled", () => {
  it("is left once the browser has scrolled after the wheel, though the wheel is told first", () => {
    const { told, wheel, scroll } = log();
    wheel(-300);
    expect(told).toEqual([]);
    scroll(500);
    expect(told).toEqual([false]);
    wheel(300);
    scroll(800);
    expect(told).toEqual([false, true]);
  });

  it("is neither left nor followed by what scrolls by itself", () => {
    const { told, scroll } = log();
    scroll(300);
    scroll(800);
    expect(told).toEqual([]);
  });

  it("is still followed when it grows under a wheel that goes on to its end", () => {
    const { told, wheel, scroll } = log();
    scroll(400);
    wheel(100);
    scroll(500);
    expect(told).toEqual([]);
  });
});
