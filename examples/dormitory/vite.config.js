/** The client modules of the pages. They are small; each page loads its own. */
import { defineConfig } from "vite";

const name = "assets/[name].[hash]";

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: "dist/static",
    emptyOutDir: true,
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: {
        countdown: "client/countdown.ts",
        ticket: "client/ticket.ts",
        team: "client/team.ts",
        live: "client/live.ts",
        site: "client/site.css",
      },
      output: {
        entryFileNames: `${name}.js`,
        chunkFileNames: `${name}.js`,
        assetFileNames: `${name}[extname]`,
      },
    },
  },
});
