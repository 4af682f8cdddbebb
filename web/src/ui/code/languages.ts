// Which grammar a block of code has, by the name after ```.

const NAMES: Readonly<Record<string, string>> = {
  ...{ sh: "bash", shell: "bash", zsh: "bash", console: "bash", h: "c", cc: "cpp", hpp: "cpp", cxx: "cpp" },
  ...{ "c++": "cpp", cs: "csharp", "c#": "csharp", patch: "diff", docker: "dockerfile", golang: "go" },
  ...{ toml: "ini", cfg: "ini", conf: "ini", js: "javascript", jsx: "javascript", mjs: "javascript" },
  ...{ cjs: "javascript", jsonl: "json", json5: "json", kt: "kotlin", make: "makefile", mk: "makefile" },
  ...{ md: "markdown", py: "python", pyi: "python", rb: "ruby", rs: "rust", ts: "typescript", tsx: "typescript" },
  ...{ mts: "typescript", html: "xml", svg: "xml", vue: "xml", htm: "xml", yml: "yaml" },
};
const KNOWN = new Set([...Object.values(NAMES), ...["css", "java", "lua", "php", "scss", "sql", "swift", "json"]]);

/** "" if there is none. */
export function languageOf(name: string): string {
  const low = name.toLowerCase();
  const found = Object.hasOwn(NAMES, low) ? (NAMES[low] ?? "") : low;
  return KNOWN.has(found) ? found : "";
}
