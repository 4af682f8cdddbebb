// The output of one launch: read from where one is, to its end, and further while its process runs.
import { useEffect, useState } from "react";

import { get } from "@/api/client";
import type { LogPage } from "@/api/model";

const WAIT_SECONDS = 20;
const AGAIN_MS = 3000;
/** The last output may arrive after the news that the process has ended. */
const LAST_MS = 1200;

export interface Output {
  text: string;
  page: LogPage | null;
  error: unknown;
}

const NOTHING: Output = { text: "", page: null, error: null };

/** Calls `told` with all that is there, again and again, until the process has ended and nothing more comes. */
export async function follow(launchId: string, told: (output: Output) => void, signal: AbortSignal): Promise<void> {
  let output = NOTHING;
  let offset = 0;
  let quiet = false;
  while (!quiet && !signal.aborted) {
    try {
      const waits = output.page !== null && !output.page.ended ? WAIT_SECONDS : 0;
      const path = `/launches/${encodeURIComponent(launchId)}/log`;
      const page = await get<LogPage>(path, { offset, wait_seconds: waits }, signal);
      quiet = page.ended && page.text === "" && output.page?.ended === true;
      output = { text: output.text + page.text, page, error: null };
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
