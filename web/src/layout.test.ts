// How the files hang together: no file needs itself by way of others.
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>("/src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

/** The file that an import in `file` names; undefined for a package. */
function resolved(file: string, name: string): string | undefined {
  const folder = file.slice(0, file.lastIndexOf("/"));
  const path = name.startsWith("@/") ? `/src/${name.slice(2)}` : new URL(name, `file://${folder}/`).pathname;
  if (!name.startsWith("@/") && !name.startsWith(".")) return undefined;
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`, `${path}/index.tsx`].find((each) => each in SOURCES);
}

function needs(file: string): string[] {
  const named = [...(SOURCES[file] ?? "").matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((each) => each[1] ?? "");
  return named.map((name) => resolved(file, name)).filter((each) => each !== undefined);
}

/** The files of one circle, in order; empty if there is none. */
function circle(): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of needs(file)) {
      const found = visit(next, [...path, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  for (const file of Object.keys(SOURCES)) {
    const found = visit(file, []);
    if (found.length > 0) return found;
  }
  return [];
}

test("no file imports itself by way of others", () => {
  expect(Object.keys(SOURCES).length).toBeGreaterThan(200);
  expect(needs("/src/views/chat/chat.tsx")).toContain("/src/views/chat/threads.tsx");
  expect(circle()).toEqual([]);
});
