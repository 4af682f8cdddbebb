import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import { STATUSES, type BoardTask, type TaskStatus } from "@/api/model";
import { card } from "@/testkit";
import { useFolds } from "@/views/board/folds";

const tasks = (...statuses: TaskStatus[]) => statuses.map((status, number) => card({ task_id: `t${number}`, status }));
const folds = (begin: BoardTask[]) => {
  const { result, rerender } = renderHook(({ all }) => useFolds(all), { initialProps: { all: begin } });
  return {
    open: () => STATUSES.filter((each) => !result.current.folded.has(each)),
    turn: (status: TaskStatus) => act(() => result.current.turn(status)),
    become: (...statuses: TaskStatus[]) => rerender({ all: tasks(...statuses) }),
  };
};

beforeEach(() => localStorage.clear());

describe("the columns of a board", () => {
  it("are folded where they are empty when it is opened, and what was cancelled", () => {
    expect(folds(tasks("todo", "blocked", "cancelled")).open()).toEqual(["todo", "blocked"]);
  });

  it("open when they get a card, and never fold by themselves", () => {
    const board = folds(tasks("todo", "cancelled"));
    board.become("in_progress", "cancelled", "cancelled");
    expect(board.open()).toEqual(["todo", "in_progress", "cancelled"]);
    board.become("completed");
    expect(board.open()).toEqual(["todo", "in_progress", "completed", "cancelled"]);
  });

  it("stay as a person has chosen, also when the board is opened again", () => {
    const board = folds(tasks("todo"));
    board.turn("failed");
    board.turn("todo");
    board.become("todo", "todo");
    expect(board.open()).toEqual(["failed"]);
    expect(folds(tasks("todo", "blocked")).open()).toEqual(["blocked", "failed"]);
  });
});
