// Builds the dashboard into the Python package, from where the server serves it. `npm run dev` proxies to a server.
import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.TORYO_SERVER_URL ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/toryo/server/static",
    emptyOutDir: true,
    assetsDir: "assets",
    assetsInlineLimit: 0, // the content security policy allows no data: scripts or styles
    target: "es2022",
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
