// Code as lines of tokens: highlight.js with the languages of `languages.ts`. Runs in the worker.
import type { Root, RootContent } from "hast";
import { createLowlight } from "lowlight";

import { grammars } from "./grammars";

/** Some letters and what they are; "" where they are nothing special. */
export type Token = readonly [text: string, kind: string];

const lowlight = createLowlight(grammars);

/** The lines of a question (`highlighter.ts`); null for a language that is not known. */
export function tokensOf(question: string): Token[][] | null {
  const end = question.indexOf("\n");
  const language = question.slice(0, end);
  if (!lowlight.registered(language)) return null;
  const lines: Token[][] = [[]];
  collect(lowlight.highlight(language, question.slice(end + 1)), "", lines);
  return lines;
}

function collect(node: Root | RootContent, kind: string, lines: Token[][]): void {
  if (node.type === "text") {
    node.value.split("\n").forEach((piece, place) => {
      if (place > 0) lines.push([]);
      if (piece !== "") lines.at(-1)?.push([piece, kind]);
    });
  } else if (node.type === "root" || node.type === "element") {
    const own = node.type === "element" ? kindOf(node.properties.className) : "";
    for (const child of node.children) collect(child, own || kind, lines);
  }
}

function kindOf(names: unknown): string {
  const [name] = Array.isArray(names) ? (names as string[]) : [];
  return name?.replace(/^hljs-/, "") ?? "";
}
