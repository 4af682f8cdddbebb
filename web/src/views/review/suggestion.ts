// Suggestions in a comment: what should stand in the place of the lines that the comment is about, as GitHub writes them.

const BLOCK = /^```suggestion[^\S\n]*\n([\s\S]*?)^```[^\S\n]*$/gm;

export type Part = { kind: "words"; text: string } | { kind: "suggestion"; lines: string[] };

/** A comment in parts: what is said, and what is suggested. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(BLOCK)) {
    parts.push({ kind: "words", text: text.slice(from, found.index) });
    const inside = found[1] ?? "";
    parts.push({ kind: "suggestion", lines: inside === "" ? [] : inside.replace(/\n$/, "").split("\n") });
    from = found.index + found[0].length;
  }
  parts.push({ kind: "words", text: text.slice(from) });
  return parts.filter((each) => each.kind === "suggestion" || each.text.trim() !== "");
}

/** A comment with a suggestion that begins as what stands there now. */
export function withSuggestion(text: string, quote: string): string {
  const before = text.trimEnd();
  return `${before}${before === "" ? "" : "\n\n"}\`\`\`suggestion\n${quote}\n\`\`\``;
}
