// Of two classes for the same thing the stylesheet decides, not the order in which they stand: what a button is given
// besides its own must win.
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>(["/src/**/*.tsx", "!/src/**/*.test.tsx", "!/src/ui/button.tsx"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** What loses against the class that a button has of its own, if no condition such as `sm:` stands before it. */
const LOSES = {
  IconButton: /(?<![\w:-])size-[0-8](?!\d)/,
  Button: /(?<![\w:-])(?:whitespace-normal|h-auto|h-[0-6](?!\d))/,
};

test("no button is given a size or a way to wrap that its own class wins against", () => {
  const found = Object.entries(SOURCES).flatMap(([file, text]) =>
    [...text.matchAll(/<(IconButton|Button)\b(?:[^>]|=>)*?className="([^"]*)"/g)].map(([, name, given = ""]) => ({
      file,
      name: name as keyof typeof LOSES,
      given,
    })),
  );
  expect(found.length).toBeGreaterThan(20);
  const losing = found.filter(({ name, given }) => LOSES[name].test(given));
  expect(losing).toEqual([]);
});
