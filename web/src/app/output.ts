// The output of one launch: read from where one is, to its end, and further while its process runs.
import { useEffect, useMemo, useState } from "react";

import { api } from "@/api/client";
import type { LogPage } from "@/api/model";
import { Reader, type Item, type PieceTime } from "@/ui/transcript";

const WAIT_SECONDS = 20;
const AGAIN_MS = 3000;
/** The last output may arrive after the news that the process has ended. */
const LAST_MS = 1200;

export interface Output {
  text: string;
  /** When its pieces came. */
  times: readonly PieceTime[];
  page: LogPage | null;
  error: unknown;
}

const NOTHING: Output = { text: "", times: [], page: null, error: null };

/** Calls `told` with all that is there, again and again, until the process has ended and nothing more comes. */
export async function follow(launchId: string, told: (output: Output) => void, signal: AbortSignal): Promise<void> {
  let output = NOTHING;
  let offset = 0;
  let quiet = false;
  while (!quiet && !signal.aborted) {
    try {
      const waits = output.page !== null && !output.page.ended ? WAIT_SECONDS : 0;
      const query = { offset, wait_seconds: waits };
      const page = await api.get("/launches/{launch_id}/log", { path: { launch_id: launchId }, query, signal });
      quiet = page.ended && page.text === "" && output.page?.ended === true;
      const times = page.times.map((each) => ({
        offset: output.text.length + unitsOf(page.text, each.offset - offset),
        at: Date.parse(each.at),
      }));
      output = { text: output.text + page.text, times: [...output.times, ...times], page, error: null };
      offset = page.next_offset;
    } catch (error) {
      if (signal.aborted) return;
      output = { ...output, error };
      await pause(AGAIN_MS, signal);
    }
    if (signal.aborted) return;
    told(output);
    if (!quiet && output.page?.ended === true) await pause(LAST_MS, signal);
  }
}

/** The server counts characters, this language halves of some. */
function unitsOf(text: string, characters: number): number {
  if (characters <= 0) return 0;
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count++)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
}

/** Set the launch id as the component's key: the state resets for another launch. */
export function useOutput(launchId: string): Output {
  const [output, setOutput] = useState(NOTHING);
  useEffect(() => {
    const leaving = new AbortController();
    void follow(launchId, setOutput, leaving.signal);
    return () => leaving.abort();
  }, [launchId]);
  return output;
}

const SPOKEN = ["claude", "codex", "copilot", "gemini", "opencode", "qwen"];
const PLAIN = ["playbook", "script"];
const BEGIN = 20_000;

/** Whether its output is its own, and no conversation with a model. Of a command, and of a program that is configured
 * under another name, calls tell. */
export function isPlain({ text, page }: Output): boolean {
  const program = page?.launch.ai_type ?? "";
  return PLAIN.includes(program) || (!SPOKEN.includes(program) && !/^→ \S/m.test(text.slice(0, BEGIN)));
}

/** What the text says, row by row. */
export function useItems(output: Output): readonly Item[] {
  const { text, times, page } = output;
  const plain = isPlain(output);
  const reader = useMemo(() => new Reader(!plain), [plain]);
  return useMemo(() => reader.read(text, times, page?.ended === true), [reader, text, times, page?.ended]);
}

// Colours and cursor moves of terminals say nothing here. What a program prints may begin such a thing a million times
// and never end it: the end of one is not looked for beyond the beginning of the next.
const ESCAPE = "\\u001b";
const CONTROLS = new RegExp(
  `${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]|${ESCAPE}\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)|\\r(?=\\n)`,
  "g",
);

export function readable(text: string): string {
  return text.replace(CONTROLS, "");
}
