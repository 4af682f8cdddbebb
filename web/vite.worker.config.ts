// Builds the service worker: one file of a fixed name at the root, so that its scope is the whole dashboard.
import { fileURLToPath } from "node:url";

import { defineConfig } from "vite";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  publicDir: false,
  build: {
    outDir: "../src/toryo/server/static",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/push/worker.ts", formats: ["iife"], name: "worker", fileName: () => "sw.js" },
  },
});
