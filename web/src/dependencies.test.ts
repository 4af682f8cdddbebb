// package.json and the code say the same: what is imported is declared, and what is declared is imported, or is a tool
// that something else runs.
import { expect, test } from "vitest";

import manifest from "../package.json";

const SOURCES = import.meta.glob<string>(["/src/**/*.{ts,tsx}", "/*.{ts,js}"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Who needs each, where nothing imports it. */
const TOOLS: Record<string, string> = {
  "axe-core": "tests/browser/test_views.py",
  "@types/node": "TypeScript: types of tsconfig.json",
  eslint: "npm run check",
  jsdom: "vitest: environment of vite.config.ts",
  "openapi-typescript": "npm run types",
  prettier: "npm run check",
  tailwindcss: "src/theme.css, by @tailwindcss/vite",
  typescript: "npm run check",
};

/** The name of the package that an import names; undefined for a file of ours, or what Node and Vite have themselves. */
function packageOf(name: string): string | undefined {
  if (/^(?:\.|\/|@\/|node:|vite\/client$|virtual:)/.test(name)) return undefined;
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function imported(): Map<string, string> {
  const found = new Map<string, string>();
  const named = /(?:\bfrom|\bimport|@import|@plugin|\bimport\()\s*["']([^"'\s]+)["']/g;
  for (const [file, text] of Object.entries(SOURCES))
    for (const [, name = ""] of text.matchAll(named)) {
      const one = packageOf(name);
      if (one !== undefined) found.set(one, file);
    }
  return found;
}

const used = imported();
const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });

test("every dependency is imported, or a tool that something runs", () => {
  expect(used.size).toBeGreaterThan(25);
  const unused = declared.filter((name) => !used.has(name.replace("@types/", "")) && !(name in TOOLS));
  expect(unused).toEqual([]);
  expect(Object.keys(TOOLS).filter((name) => !declared.includes(name))).toEqual([]);
});

test("everything that is imported is declared", () => {
  const known = new Set(declared.map((name) => name.replace("@types/", "")));
  expect([...used].filter(([name]) => !known.has(name))).toEqual([]);
});
