// An id out of a name, as people would choose it: `Hana Kato` is `hana-kato`. Of a name without such letters there is none.

export function idOf(name: string, taken: readonly string[]): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 48)
    .replace(/-+$/, "");
  if (plain === "" || !taken.includes(plain)) return plain;
  for (let number = 2; ; number++) if (!taken.includes(`${plain}-${number}`)) return `${plain}-${number}`;
}
