// The name nearest to one that is not there.

/** However it is written: letters of any width, large or small, with or without quotes. */
export function folded(words: string): string {
  return words
    .normalize("NFKC")
    .toLocaleLowerCase()
    .replace(/["“”「」]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** null: none is like it. */
export function nearest(said: string, names: readonly string[]): string | null {
  const wanted = folded(said);
  let best: { name: string; apart: number } | null = null;
  for (const name of names) {
    const plain = folded(name);
    const apart = plain.startsWith(wanted) && wanted !== "" ? 0.5 : distance(wanted, plain);
    if (apart <= Math.max(2, plain.length * 0.4) && apart < Math.max(wanted.length, 1) && apart < (best?.apart ?? 99))
      best = { name, apart };
  }
  return best?.name ?? null;
}

/** How many letters must be changed, added or left out. */
function distance(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let column = 1; column <= other.length; column++) {
      const changed = (before[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      now.push(Math.min(changed, (before[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1));
    }
    before = now;
  }
  return before[other.length] ?? 0;
}
