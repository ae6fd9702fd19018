import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

const program = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))

/** Whether this machine has a browser. */
export const hasChromium = program !== undefined

/** Starts a browser without a window, with nothing in its cache; its sandbox does not run as root. */
export function startChromium() {
  const { chromium } = createRequire(new URL('../../package.json', import.meta.url))('playwright-core')
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
}
