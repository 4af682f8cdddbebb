// Finding words in the lines of a log, and the pieces of a line between them; and the line that an address names.

/** The numbers of the lines that hold the words, whatever their case. */
export function linesWith(lines: readonly string[], words: string): number[] {
  const wanted = words.toLowerCase();
  if (wanted === "") return [];
  return lines.flatMap((line, number) => (line.toLowerCase().includes(wanted) ? [number] : []));
}

/** The next match after (or before) the present one, round and round. */
export function stepped(current: number, count: number, by: 1 | -1): number {
  return count === 0 ? 0 : (current + by + count) % count;
}

export interface Piece {
  text: string;
  found: boolean;
}

export function pieces(line: string, words: string): Piece[] {
  const wanted = words.toLowerCase();
  const low = line.toLowerCase();
  if (wanted === "" || low.length !== line.length) return [{ text: line, found: false }];
  const result: Piece[] = [];
  let from = 0;
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, from)) {
    if (at > from) result.push({ text: line.slice(from, at), found: false });
    result.push({ text: line.slice(at, at + wanted.length), found: true });
    from = at + wanted.length;
  }
  if (from < line.length) result.push({ text: line.slice(from), found: false });
  return result;
}

interface Told {
  text: string;
  times: readonly { offset: number; at: number }[];
}

/** The line that an address names: by its number (`L12`), or by the instant of what was printed. Null: none. */
export function lineAt({ text, times }: Told, named: string | undefined): number | null {
  if (named === undefined || text === "") return null;
  if (/^L\d+$/.test(named)) return Number(named.slice(1));
  const wanted = Date.parse(named);
  const piece = times.find((each) => each.at >= wanted) ?? times.at(-1);
  if (Number.isNaN(wanted) || piece === undefined) return null;
  return text.slice(0, piece.offset).split("\n").length - 1;
}
