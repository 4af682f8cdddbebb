// Forms over what others may change meanwhile: only what was changed here is sent, with the version one has seen. On a
// conflict the form goes on from what is there now, and what was typed here stays.

export type Fields = Record<string, string>;

/** What differs from where one began. */
export function changed(base: Fields, draft: Fields): Fields {
  return Object.fromEntries(Object.entries(draft).filter(([name, value]) => value !== (base[name] ?? "")));
}

/** The draft on what is there now: my changes over theirs. */
export function rebased(base: Fields, draft: Fields, now: Fields): Fields {
  return { ...now, ...changed(base, draft) };
}

/** Fields that both sides have changed, and not to the same. */
export function contested(base: Fields, draft: Fields, now: Fields): string[] {
  const mine = changed(base, draft);
  return Object.keys(mine).filter((name) => now[name] !== base[name] && now[name] !== mine[name]);
}

/** `gpu, linux` as a list. */
export function listed(text: string): string[] {
  return text
    .split(/[,、\n]/)
    .map((each) => each.trim())
    .filter(Boolean);
}
