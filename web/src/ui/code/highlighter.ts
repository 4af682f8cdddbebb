// Asks the worker for the tokens of some code. Code that is too long, or in no known language, stays as it is.
import { Background, useAnswer } from "../background/background";
import type { Token } from "./tokens";

/** Longer code stays plain. */
export const LONGEST = 200_000;
const LONGEST_LINE = 5_000;

export type Lines = readonly (readonly Token[])[];

export const highlighter = new Background<Lines>(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
);

/** What is asked: the language, and from the next line on the code. null: not worth it. */
export function questionOf(text: string, language: string): string | null {
  if (language === "" || text === "" || text.length > LONGEST) return null;
  return text.split("\n").every((line) => line.length <= LONGEST_LINE) ? `${language}\n${text}` : null;
}

/** The tokens of code, line by line; null until they are known, and where there are none. */
export function useTokens(text: string, language: string, wanted = true): Lines | null {
  return useAnswer(highlighter, wanted ? questionOf(text, language) : null);
}
