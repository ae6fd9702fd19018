import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/**
 * The page is built into the package. Its server puts the nonce and the path at which it is mounted into index.html;
 * code and styles name each other by relative addresses, so one build serves at every path.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  html: { cspNonce: '__CSP_NONCE__' },
  experimental: {
    renderBuiltUrl: (filename, { hostType }) =>
      hostType === 'html' ? `__BASE_PATH__/${filename}` : { relative: true },
  },
  build: {
    outDir: fileURLToPath(new URL('../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        // What pages share is one file: a page needs two requests, and not one for each of its parts.
        manualChunks: (id) =>
          /\/(src\/(api|parts|state|time|words)|preact\S*|@preact)\//.test(id) ? 'shared' : null,
      },
    },
  },
  // Licences of what is built in are in the NOTICE of the package, not in each file.
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
})
