import { describe, expect, it } from "vitest";

import type { Event } from "@/api/model";
import { sentence } from "@/app/sentence";
import { wordsIn } from "@/i18n/words";

const names = {
  agent: (id: string) => ({ w1: "Anna", boss: "Bo" })[id] ?? id,
  task: (id: string) => (id === "tsk_1" ? "Build the wall" : id),
};

function event(kind: string, data: Event["data"] = {}, more: Partial<Event> = {}): Event {
  return {
    sequence: 1,
    event_id: "evt_1",
    at: "2026-01-01T00:00:00Z",
    kind,
    actor_id: "w1",
    by_person: false,
    project_id: "prj",
    task_id: "tsk_1",
    agent_id: "w1",
    session_id: null,
    launch_id: null,
    correlation_id: null,
    data,
    ...more,
  };
}

const inEnglish = (each: Event) => sentence(each, names, wordsIn("en", "audit"));
const inJapanese = (each: Event) => sentence(each, names, wordsIn("ja", "audit"));

describe("an event as a sentence", () => {
  it("names who did what to which task, in both languages", () => {
    expect(inEnglish(event("task.completed"))).toBe("Anna completed “Build the wall”");
    expect(inJapanese(event("task.completed"))).toBe("Anna が「Build the wall」を完了しました");
  });

  it("names agents that stand in its data", () => {
    expect(inEnglish(event("task.assigned", { from: null, to: "boss" }))).toBe("Anna assigned “Build the wall” to Bo");
  });

  it("says reasons in words, and one that has none as it is", () => {
    expect(inEnglish(event("session.ended", { reason: "told_to_exit" }))).toBe(
      "The session of Anna ended: it was told to exit",
    );
    expect(inEnglish(event("session.ended", { reason: "gone_fishing" }))).toBe(
      "The session of Anna ended: gone fishing",
    );
  });

  it("names the signal that ended a process, which then has no exit code", () => {
    const killed = event("launch.process_ended", { exit_code: null, signal: 9, error: null });
    expect(inEnglish(killed)).toBe("The process of Anna was terminated by signal 9");
    expect(inJapanese(killed)).toBe("Anna のプロセスがシグナル 9 で終了しました");
    const left = event("launch.process_ended", { exit_code: 3, signal: null, error: null });
    expect(inEnglish(left)).toBe("The process of Anna exited with code 3");
  });

  it("tells what Toryo did by itself as Toryo's", () => {
    expect(inEnglish(event("task.failed", {}, { actor_id: "system:toryo" }))).toBe(
      "Toryo marked “Build the wall” as failed",
    );
  });

  it("of a kind without words still says who and what", () => {
    expect(inEnglish(event("moon.risen"))).toBe("Anna: moon.risen");
  });
});
