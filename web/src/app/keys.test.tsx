import { cleanup, fireEvent, render, renderHook, screen, act } from "@testing-library/react";
import { useLayoutEffect } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { useCursor, useKeys, useKnownKeys, type Key } from "@/app/keys";

afterEach(cleanup);

function Listening({ keys }: { keys: Key[] }) {
  useKeys(keys);
  return null;
}

const key = (name: string, run: () => void, more: Partial<Key> = {}): Key => ({ key: name, words: name, run, ...more });

describe("a key", () => {
  it("does what the view says, which is asked before the frame", () => {
    const [view, frame] = [vi.fn(), vi.fn()];
    render(
      <>
        <Listening keys={[key("n", view)]} />
        <Listening keys={[key("n", frame, { last: true })]} />
      </>,
    );
    fireEvent.keyDown(document.body, { key: "n" });
    expect([view.mock.calls.length, frame.mock.calls.length]).toEqual([1, 0]);
  });

  it("is heard in the moment in which its view is drawn", () => {
    const run = vi.fn();
    function Hasty() {
      useLayoutEffect(
        () => void document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true })),
      );
      return null;
    }
    render(
      <>
        <Listening keys={[key("a", run)]} />
        <Hasty />
      </>,
    );
    expect(run).toHaveBeenCalledOnce();
  });

  it("can be two, one after the other, and a letter that is typed later is one of its own", () => {
    const [board, down] = [vi.fn(), vi.fn()];
    render(<Listening keys={[key("g b", board), key("b", down)]} />);
    const press = (name: string, timeStamp: number) => {
      const event = new KeyboardEvent("keydown", { key: name, bubbles: true });
      Object.defineProperty(event, "timeStamp", { value: timeStamp });
      document.body.dispatchEvent(event);
    };
    press("g", 1000);
    press("b", 1200);
    expect([board.mock.calls.length, down.mock.calls.length]).toEqual([1, 0]);
    press("g", 2000);
    press("b", 9000);
    expect([board.mock.calls.length, down.mock.calls.length]).toEqual([1, 1]);
  });

  it("stays silent while one types, and with Ctrl held", () => {
    const run = vi.fn();
    render(
      <>
        <Listening keys={[key("j", run)]} />
        <input aria-label="field" />
      </>,
    );
    fireEvent.keyDown(screen.getByLabelText("field"), { key: "j" });
    fireEvent.keyDown(document.body, { key: "j", ctrlKey: true });
    expect(run).not.toHaveBeenCalled();
    fireEvent.keyDown(document.body, { key: "j" });
    expect(run).toHaveBeenCalledOnce();
  });

  it("does nothing behind an open dialog, where only the dialog's own keys count", () => {
    const [behind, inside] = [vi.fn(), vi.fn()];
    render(
      <>
        <Listening keys={[key("a", behind), key("a", inside, { inside: true })]} />
        <div role="dialog" />
      </>,
    );
    fireEvent.keyDown(document.body, { key: "a" });
    expect([behind.mock.calls.length, inside.mock.calls.length]).toEqual([0, 1]);
  });

  it("leaves Enter to the button that has the focus", () => {
    const open = vi.fn();
    render(
      <>
        <Listening keys={[key("Enter", open)]} />
        <button type="button">Approve</button>
      </>,
    );
    fireEvent.keyDown(screen.getByRole("button"), { key: "Enter" });
    expect(open).not.toHaveBeenCalled();
  });

  it("is forgotten with its view, and known to the help while it is there", () => {
    const run = vi.fn();
    const { unmount } = render(<Listening keys={[key("x", run)]} />);
    const help = renderHook(() => useKnownKeys());
    expect(help.result.current.map((each) => each.key)).toEqual(["x"]);
    unmount();
    fireEvent.keyDown(document.body, { key: "x" });
    expect(run).not.toHaveBeenCalled();
    expect(help.result.current).toEqual([]);
  });
});

describe("the cursor", () => {
  it("steps within the list and stays on its row when rows come before it", () => {
    const { result, rerender } = renderHook(({ ids }) => useCursor(ids), { initialProps: { ids: ["a", "b"] } });
    expect(result.current.at).toBeNull();
    act(() => result.current.step(1));
    act(() => result.current.step(1));
    act(() => result.current.step(1));
    expect(result.current.at).toBe("b");
    rerender({ ids: ["new", "a", "b"] });
    expect(result.current.at).toBe("b");
    act(() => result.current.step(-1));
    expect(result.current.at).toBe("a");
  });

  it("stands on the first row where it must stand somewhere, also when its row is gone", () => {
    const { result, rerender } = renderHook(({ ids }) => useCursor(ids, { first: true }), {
      initialProps: { ids: ["a", "b"] },
    });
    act(() => result.current.put("b"));
    rerender({ ids: ["a", "c"] });
    expect(result.current.at).toBe("a");
  });
});
