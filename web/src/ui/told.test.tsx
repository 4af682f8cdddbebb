import { cleanup, render, screen } from "@testing-library/react";
import { act, type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { chooseLanguage } from "@/i18n";
import { Mentions, Titles, Told, usePlainly } from "@/ui";

const DIG = "tsk_0abcdefgh1";
const drawn = (id: string) => <b>{`task ${id}`}</b>;
const told = (text: string, frame: (shown: ReactNode) => ReactNode = (shown) => shown) =>
  render(<p>{frame(<Told text={text} />)}</p>).container.textContent;
const inFrame = (shown: ReactNode) => <Mentions value={drawn}>{shown}</Mentions>;
const known = (shown: ReactNode) => <Titles value={(id) => (id === DIG ? "Dig" : undefined)}>{shown}</Titles>;

describe("words of the server", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date("2026-01-01T10:00:00Z"), toFake: ["Date"] });
  });
  afterEach(async () => {
    cleanup();
    vi.useRealTimers();
    act(() => chooseLanguage("en"));
  });

  it("draw a task that they name by its id", () => {
    render(inFrame(<Told text={`Task ${DIG} is completed.`} />));
    expect(screen.getByText(`task ${DIG}`)).toBeTruthy();
  });

  it("draw a task once where its title stands beside its id", () => {
    expect(told(`“Dig” (${DIG}) was approved.`, inFrame)).toBe(`task ${DIG} was approved.`);
    expect(told(`「掘る」（${DIG}）が承認されました。`, inFrame)).toBe(`task ${DIG}が承認されました。`);
  });

  it("name the task by its title where nothing can be drawn, and leave out an id that nobody knows", () => {
    expect(told(`Task ${DIG} waits for tsk_9zyxwvut.`, known)).toBe("Task “Dig” waits for ….");
    expect(told(`“Dig” (${DIG}) was approved.`)).toBe("“Dig” was approved.");
  });

  it("leave out the ids of questions, which people answer where they stand", () => {
    expect(told("Which tiles? (qst_1m8hpnpv5zhs9d0e) By when? (qst_1m8hpnq5qgabnaxg)", inFrame)).toBe(
      "Which tiles? By when?",
    );
    expect(told("Which tiles? (qst_1m8hpnpv5zhs9d0e)")).toBe("Which tiles?");
  });

  it("name it as Japanese does", async () => {
    act(() => chooseLanguage("ja"));
    expect(told(`タスク ${DIG} は完了です。`, known)).toBe("タスク 「Dig」 は完了です。");
  });

  it("say an instant in the reader's own time", () => {
    const at = "2026-01-01T12:30:00.000Z";
    const here = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit" }).format(new Date(at));
    expect(told(`Locked until ${at}.`)).toBe(`Locked until ${here}.`);
    expect(told(`Locked until ${at}.`, inFrame)).toBe(`Locked until ${here}.`);
  });

  it("leave paths and longer words alone", () => {
    expect(told(`see /t/${DIG} and x${DIG}`, inFrame)).toBe(`see /t/${DIG} and x${DIG}`);
  });

  it("are plain text within a button", () => {
    function Plain() {
      return <>{usePlainly()(`Sora requests a task: "Dig" (${DIG}).`)}</>;
    }
    expect(render(<Plain />).container.textContent).toBe('Sora requests a task: "Dig".');
  });
});
