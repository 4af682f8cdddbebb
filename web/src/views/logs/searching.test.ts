import { describe, expect, it } from "vitest";

import type { Launch } from "@/api/model";
import { readable } from "@/app/output";
import { failed } from "@/app/launch-end";
import { becameOf } from "@/views/logs/ends";
import { lineAt, linesWith, pieces, stepped } from "@/views/logs/searching";

describe("searching in a log", () => {
  it("finds the lines that hold the words, whatever their case", () => {
    expect(linesWith(["an Error", "fine", "error again"], "ERROR")).toEqual([0, 2]);
    expect(linesWith(["a"], "")).toEqual([]);
  });

  it("goes round from the last match to the first, and back", () => {
    expect([stepped(2, 3, 1), stepped(0, 3, -1), stepped(0, 0, 1)]).toEqual([0, 2, 0]);
  });

  it("marks every place in a line", () => {
    const found = pieces("no, No!", "no");
    expect(found.filter((each) => each.found).map((each) => each.text)).toEqual(["no", "No"]);
    expect(found.map((each) => each.text).join("")).toBe("no, No!");
  });

  it("shows no colours of terminals", () => {
    expect(readable("\u001b[31mred\u001b[0m\r\nnext")).toBe("red\nnext");
  });

  it("shows an output at once that begins a million titles of windows and ends none", () => {
    expect(readable("\u001b]".repeat(200_000)).length).toBe(400_000);
    expect(readable("a\u001b]0;title\u0007b\u001b]8;;x\u001b\\c")).toBe("abc");
  });
});

describe("a launch", () => {
  const launch = { state: "exited", exit_error: null } as Launch;

  it("has failed if its program did, or it never came, but not if it was told to stop", () => {
    expect(failed({ ...launch, exit_error: "crashed: oh" })).toBe(true);
    expect(failed({ ...launch, state: "expired" })).toBe(true);
    expect(failed({ ...launch, exit_error: "stopped: by order" })).toBe(false);
    expect(failed(launch)).toBe(false);
  });

  it("that is over says how: what failed, was stopped, reported or waits is not the same", () => {
    const ends = (given: Partial<Launch>) => becameOf({ ...launch, end_reason: null, ...given });
    expect(ends({ exit_error: "crashed: oh" })).toBe("failed");
    expect(ends({ exit_error: "stopped: by order" })).toBe("stopped");
    expect(ends({ exit_error: "coordinator_stopped" })).toBe("stopped");
    expect(ends({ end_reason: "ended_by_person" })).toBe("stopped");
    expect(ends({ end_reason: "reported" })).toBe("reported");
    expect(ends({ end_reason: "left_to_wait" })).toBe("waits");
    expect(ends({ end_reason: "logged_out" })).toBe("other");
  });
});

describe("the place that an address names", () => {
  const log = {
    text: "one\ntwo\nthree\n",
    times: [
      { offset: 0, at: 1000 },
      { offset: 8, at: 5000 },
    ],
  };

  it("is a line by its number, or the first one that was printed at an instant or later", () => {
    expect(lineAt(log, "L1")).toBe(1);
    expect(lineAt(log, new Date(3000).toISOString())).toBe(2);
    expect(lineAt(log, new Date(9000).toISOString())).toBe(2);
  });

  it("is none where the address names none, or nothing was printed", () => {
    expect(lineAt(log, undefined)).toBeNull();
    expect(lineAt(log, "somewhere")).toBeNull();
    expect(lineAt({ text: "", times: [] }, "L1")).toBeNull();
  });
});
