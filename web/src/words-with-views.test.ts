// A view comes together with all words that it shows. Without, the first component that says one of them waits for it, and
// until then the whole page is gone.
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>(["/src/**/*.{ts,tsx}", "!/src/**/*.test.*", "!/src/i18n/*"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const COMMON = "translation";

function resolved(file: string, name: string): string | undefined {
  const folder = file.slice(0, file.lastIndexOf("/"));
  const path = name.startsWith("@/") ? `/src/${name.slice(2)}` : new URL(name, `file://${folder}/`).pathname;
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`, `${path}/index.tsx`].find((each) => each in SOURCES);
}

const foundIn = (file: string, what: RegExp): string[][] =>
  [...(SOURCES[file] ?? "").matchAll(what)].map(([, ...groups]) => groups);

/** The files that come with one: what they import at once, not what they ask for later. */
function comesWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [name = ""] of foundIn(file, /^(?:import|export)\s(?!type\s)[^;]*?from\s+"([@.][^"]+)"/gm)) {
    const next = resolved(file, name);
    if (next !== undefined) comesWith(next, found);
  }
  return found;
}

const said = (file: string): string[] => foundIn(file, /use(?:Translation|Words)\("(\w+)"\)/g).flat();

interface Part {
  file: string;
  words: Set<string>;
}

/** Every script that is loaded on its own, with the words that are there by then: its own, and those of who asks for it. */
function parts(): Part[] {
  const found: Part[] = [];
  const visit = (file: string, words: Set<string>) => {
    if (found.some((each) => each.file === file && [...each.words].join() === [...words].join())) return;
    found.push({ file, words });
    for (const each of comesWith(file))
      for (const [view, together, name = ""] of foundIn(
        each,
        /(?:view\(\s*"([\w ]+)",\s*\(\) => |withWords\("([\w ]+)",\s*)?import\("([@.][^"]+)"\)/g,
      )) {
        const next = resolved(each, name);
        const more = (view ?? together ?? "").split(" ").filter((word) => word !== "");
        if (next !== undefined) visit(next, new Set([...words, ...more].sort()));
      }
  };
  visit("/src/main.tsx", new Set([COMMON]));
  return found;
}

test("every script that is loaded on its own comes with the words that it says", () => {
  const all = parts();
  const names = new Set(all.map(({ file }) => file));
  const views = Object.keys(SOURCES).filter((file) => /^\/src\/views\/\w+\/index\.tsx?$/.test(file));
  expect(views.filter((file) => !names.has(file))).toEqual([]);
  expect(said("/src/views/timeline/request.tsx")).toContain("audit");
  const missing = all.flatMap(({ file, words }) =>
    [...comesWith(file)].flatMap((each) =>
      said(each)
        .filter((word) => !words.has(word))
        .map((word) => `${file} comes without the words "${word}" of ${each}`),
    ),
  );
  expect([...new Set(missing)]).toEqual([]);
});
