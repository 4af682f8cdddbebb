// Builds the dashboard into the Python package, from where the server serves it. `npm run dev` proxies to a server.
import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.TORYO_SERVER_URL ?? "http://127.0.0.1:8765";

/** `words.ts?en` is the file with its English half alone: what nobody can name is left out. */
const oneLanguage: Plugin = {
  name: "one-language",
  enforce: "pre",
  transform: (code, id) =>
    /[?&](en|ja)\b/.test(id) && id.includes("/words.ts")
      ? code.replaceAll(/^export (const (en|ja)\b)/gm, (all, rest: string, of) => (id.endsWith(`?${of}`) ? all : rest))
      : undefined,
};

/** Icons number their parts: what they come with is random, so it cannot be packed. */
const shortKeys: Plugin = {
  name: "short-keys",
  transform(code, id) {
    let next = 0;
    return id.includes("/lucide-react/") ? code.replaceAll(/key: "\w+"/g, () => `key: "${next++}"`) : undefined;
  },
};

/** The frame in index.html is drawn before the styles of the rest have come: they stand after it. */
const frameFirst: Plugin = {
  name: "frame-first",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? [];
      return styles
        .reduce((rest, each) => rest.replace(each, ""), html)
        .replace("  </body>", `${styles.join("")}  </body>`);
    },
  },
};

/** What every view needs is one script; so is what is small and shared by some of them. */
const GROUPS = [
  { name: "app", tags: ["$initial" as const], priority: 2 },
  {
    name: "shared",
    test: /lucide-react|\/src\/(ui|app|api)\//,
    minShareCount: 2,
    entriesAware: true,
    entriesAwareMergeThreshold: 1200,
  },
];

export default defineConfig({
  plugins: [oneLanguage, shortKeys, frameFirst, react(), tailwindcss()],
  resolve: {
    alias: {
      "@": fileURLToPath(new URL("./src", import.meta.url)),
      // Markdown is read in a worker: without a document, which this package's version for pages needs.
      "decode-named-character-reference": fileURLToPath(
        new URL("./node_modules/decode-named-character-reference/index.js", import.meta.url),
      ),
    },
  },
  build: {
    outDir: "../src/toryo/server/static",
    emptyOutDir: true,
    assetsDir: "assets",
    assetsInlineLimit: 0, // the content security policy allows no data: scripts or styles
    target: "es2022",
    manifest: "chunks.json", // which script needs which: tests count what a view loads
    modulePreload: { polyfill: false }, // every browser that knows the rest of what is used here knows it
    rolldownOptions: {
      output: {
        codeSplitting: { groups: GROUPS },
        chunkFileNames: ({ name }) => `assets/${name.replace(/~.*/, "")}-[hash].js`,
      },
    },
    chunkSizeWarningLimit: 1600, // elkjs is one piece; it is loaded only by the graph
  },
  server: { proxy: { "/api": server, "/health": server } },
  // One environment for all files of a worker: a tenth of the time; every test tidies up after itself.
  test: {
    isolate: false,
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing.ts"],
    testTimeout: 30_000, // on a machine with much else to do
  },
});
