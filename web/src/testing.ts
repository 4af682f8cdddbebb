// What the tests of components need before each file.
import { act, cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

import { catalogues } from "@/i18n";
import "@/app/overlayed";
import { show } from "@/app/overlays";
import { loadAll } from "@/ui";
import { parse } from "@/ui/markdown/parse";
import { reader } from "@/ui/markdown/reader";

const unmatched = { matches: false, addEventListener: () => undefined, removeEventListener: () => undefined };
window.matchMedia ??= () => unmatched as unknown as MediaQueryList; // nor has it media

Element.prototype.scrollIntoView ??= () => undefined; // jsdom scrolls nothing

reader.here = parse; // there are no workers

await Promise.all([catalogues(), loadAll()]); // a test has no first view that must be quick

configure({ asyncUtilTimeout: 10_000 }); // on a machine with much else to do; who waits for what comes waits no longer

afterEach(() => {
  cleanup(); // files share a document: nothing of one is found by the next
  localStorage.clear(); // no draft of one test is seen by the next
  act(() => show(null)); // and nothing lies over its page, where keys mean nothing
});
