// npm run release -- --dry-run
//
// Checks everything that a release needs, packs, tries out the packed file, and says what it would publish. Without
// --dry-run it publishes that file; only a workflow of GitHub may, because npm takes no statement of origin from other
// places. What is wrong is collected, so that one run shows all of it. docs/internals/releasing.md is the guide.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import {
  changelogProblems,
  changelogSection,
  publishArguments,
  tagOf,
  versionProblems,
} from './release-checks.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const isDryRun = values['dry-run']
if (!isDryRun && process.env.GITHUB_ACTIONS !== 'true') {
  console.error('A release is published by .github/workflows/release.yml. Here: npm run release -- --dry-run')
  process.exit(2)
}

const read = (path) => readFileSync(join(root, path), 'utf8')
const run = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8' }).trim()
const show = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: 'inherit' })
const linesOf = (text) => text.split('\n').filter((line) => line !== '')

const { name, version } = JSON.parse(read('package.json'))
const changelog = read('CHANGELOG.md')
const problems = []

/** Prints what was checked, and what is wrong with it. */
function report(what, found) {
  problems.push(...found)
  console.log(`${found.length === 0 ? 'ok    ' : 'WRONG '} ${what}`)
  for (const problem of found) console.log(`       ${problem}`)
}

/** Runs a step whose failure is one more problem; its output is shown. */
function step(what, action) {
  console.log(`\n=== ${what}`)
  try {
    action()
    report(what, [])
  } catch (error) {
    report(what, [error instanceof Error ? error.message : String(error)])
  }
}

console.log(`${name} ${version}${isDryRun ? ', dry run: nothing is published and no tag is made' : ''}\n`)
const changed = linesOf(run('git', 'status', '--porcelain'))
report(
  'the working tree is clean',
  changed.map((line) => `changed: ${line.slice(3)}`),
)
report(
  'version and tag',
  versionProblems({
    version,
    lockVersion: JSON.parse(read('package-lock.json')).version,
    headTags: linesOf(run('git', 'tag', '--points-at', 'HEAD')),
    allTags: linesOf(run('git', 'tag')),
    isDryRun,
  }),
)
report('changelog', changelogProblems(changelog, version))

const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-release-'))
try {
  let tarball = null
  step('build and pack', () => {
    const [packed] = JSON.parse(packedAsJson())
    tarball = join(folder, packed.filename)
    console.log(`${packed.filename}: ${packed.size} bytes, ${packed.entryCount} files, ${packed.integrity}`)
  })
  if (tarball !== null) {
    step('types resolve wherever code does (attw)', () => {
      show(
        'npx',
        '--no-install',
        'attw',
        tarball,
        '--profile',
        'esm-only',
        '--format',
        'table-flipped',
        '--no-emoji',
      )
    })
    step('manifest (publint)', () => {
      show('npx', '--no-install', 'publint', 'run', tarball, '--strict')
    })
    step('smoke test in an empty project', () => {
      show(process.execPath, 'scripts/smoke-test.mjs', tarball)
    })
    finish(tarball)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = problems.length === 0 ? 0 : 1

/** Compiles from nothing, so that no output of an earlier build is packed. */
function packedAsJson() {
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  show(process.execPath, 'scripts/build.mjs')
  return run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)
}

function finish(tarball) {
  const args = publishArguments(tarball, version)
  console.log(`\nnotes of ${tagOf(version)}:\n\n${changelogSection(changelog, version) ?? '(none)'}\n`)
  if (problems.length > 0) {
    console.log(`Not to be released: ${problems.length} problems, see above.`)
  } else if (isDryRun) {
    console.log(`Would publish with: npm ${args.join(' ')}`)
    console.log(
      `To release: git tag -a ${tagOf(version)} -m '${name} ${version}' && git push origin ${tagOf(version)}`,
    )
  } else {
    show('npm', ...args)
  }
}
