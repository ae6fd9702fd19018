import { spawnSync } from 'node:child_process'

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/** The browser on this machine, or null where it has none. */
export const chromiumProgram: string | null = findProgram()

function findProgram(): string | null {
  const found = programs.find((program) => spawnSync(program, ['--version']).status === 0)
  if (found !== undefined) {
    return spawnSync('which', [found], { encoding: 'utf8' }).stdout.trim()
  }
  const text = `the tests in a browser need Chromium: apt-get install ${programs[0] ?? ''}`
  if (process.env['QUARTZ_TS_REQUIRE_CHROMIUM'] === '1') throw new Error(text)
  console.warn(`SKIPPED: ${text}`)
  return null
}
