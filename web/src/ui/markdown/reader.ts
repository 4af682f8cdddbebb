// Asks the worker for the tree of a text.
import type { Root } from "hast";

import { Background } from "../background/background";

export const reader = new Background<Root>(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
);
