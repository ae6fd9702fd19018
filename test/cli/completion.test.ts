import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { run, temporaryFile } from './fake-host.ts'

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** What bash offers after these words, the last of which is being written. */
async function offered(words: readonly string[], folder?: string): Promise<readonly string[]> {
  const script = temporaryFile('completion.bash', (await run(['completion', 'bash'])).out)
  const ask = [
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quartz_ts',
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n')
  const out = execFileSync('bash', ['-c', ask, 'bash', script, 'quartz-ts', ...words], {
    encoding: 'utf8',
    cwd: folder,
  })
  return out.split('\n').filter((line) => line !== '')
}

describe('completion in bash', () => {
  test('offers commands', async () => {
    expect(await offered([''])).toEqual(expect.arrayContaining(commands.map(({ spec }) => spec.name)))
    expect(await offered(['tri'])).toEqual(['triggers'])
    expect(await offered(['help', 'his'])).toEqual(['history'])
  })

  test('offers the options of a command', async () => {
    expect(await offered(['triggers', '--st'])).toEqual(['--state', '--store'])
    const all = Object.keys(commands.find(({ spec }) => spec.name === 'pause')?.spec.options ?? {})
    expect(await offered(['pause', '--'])).toEqual(['--help', ...all.map((name) => `--${name}`)])
  })

  test('offers what an option or an argument can be', async () => {
    expect(await offered(['triggers', '--state', 'P'])).toEqual(['PAUSED'])
    expect(await offered(['pause', 'trigger'])).toEqual(['trigger', 'trigger-group', 'triggers'])
    expect(await offered(['completion', ''])).toEqual(['bash', 'zsh', 'fish'])
    expect(await offered(['jobs', '--search', ''])).toEqual([])
    expect(await offered(['jobs', ''])).toEqual([])
  })

  test('offers files, also those with blanks', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'my jobs.db'), '')
    mkdirSync(join(folder, 'more'))
    expect(await offered(['jobs', '--store', 'm'], folder)).toEqual(
      expect.arrayContaining(['my jobs.db', 'more']),
    )
    expect(await offered(['validate', 'my'], folder)).toEqual(['my jobs.db'])
    expect(await offered(['xxl', 'import', 'my'], folder)).toEqual(['my jobs.db'])
  })

  test('offers what stands after an equals sign, which bash takes for a word', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'jobs.db'), '')
    expect(await offered(['jobs', '--store', '='], folder)).toEqual(['jobs.db'])
    expect(await offered(['jobs', '--store', '=', 'j'], folder)).toEqual(['jobs.db'])
    expect(await offered(['triggers', '--state', '=', 'P'])).toEqual(['PAUSED'])
  })
})

describe('completion scripts', () => {
  test.each(['bash', 'zsh', 'fish'])('for %s name every option of every command', async (shell) => {
    const { code, out } = await run(['completion', shell])
    expect(code).toBe(0)
    const missing = commands.flatMap(({ spec }) => {
      const names = Object.keys(spec.options).filter(
        (name) => !out.includes(shell === 'fish' ? `-l ${name}` : `--${name}`),
      )
      return out.includes(spec.name) ? names : [spec.name]
    })
    expect(missing).toEqual([])
  })

  const withZsh = test.skipIf(!has('zsh')) // reason: the shell is not on every machine
  withZsh('zsh reads its own', async () => {
    const script = temporaryFile('_quartz-ts', (await run(['completion', 'zsh'])).out)
    expect(spawnSync('zsh', ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

  const withFish = test.skipIf(!has('fish')) // reason: the shell is not on every machine
  withFish('fish reads its own', async () => {
    const script = temporaryFile('quartz-ts.fish', (await run(['completion', 'fish'])).out)
    expect(spawnSync('fish', ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

  withFish('fish offers files where options and commands take some', async () => {
    const script = temporaryFile('quartz-ts.fish', (await run(['completion', 'fish'])).out)
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'jobs.db'), '')
    for (const line of ['jobs --store j', 'jobs --store=j', 'validate j', 'xxl import j']) {
      const ask = `source ${script}; complete -C 'quartz-ts ${line}'`
      const { stdout } = spawnSync('fish', ['--no-config', '-c', ask], { encoding: 'utf8', cwd: folder })
      expect([line, stdout]).toEqual([line, expect.stringContaining('jobs.db')])
    }
  })

  withZsh('zsh offers commands, options and what they can be', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '_quartz-ts'), (await run(['completion', 'zsh'])).out)
    // A terminal of its own, in which the keys are pressed that a person would press.
    const keys = [
      'zmodload zsh/zpty',
      `zpty z "env TERM=dumb PS1='> ' zsh -fi"`,
      `zpty -w z "fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=10000; echo REA''DY"`,
      `zpty -r -m z out '*READY*'`,
      `zpty -w -n z "$2"$'\\t\\t'`,
      'text=',
      'for i in {1..30}; do while zpty -r -t z out; do text+=$out; done; sleep 0.1; done',
      'print -r -- $text',
    ].join('\n')
    const offeredBy = (line: string): string =>
      execFileSync('zsh', ['-fc', keys, 'zsh', folder, line], { encoding: 'utf8', timeout: 30_000 })
    expect(offeredBy('quartz-ts au')).toContain('quartz-ts audit')
    expect(offeredBy('quartz-ts audit --outcome ')).toMatch(/done[^]*failed[^]*refused/)
    expect(offeredBy('quartz-ts log --fol')).toContain('--follow')
  })

  withFish('fish offers commands, options and what they can be', async () => {
    const script = temporaryFile('quartz-ts.fish', (await run(['completion', 'fish'])).out)
    const offeredBy = (line: string): readonly string[] => {
      const ask = `source ${script}; complete -C '${line}'`
      const out = execFileSync('fish', ['--no-config', '-c', ask], { encoding: 'utf8' })
      return out.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t', 1)[0] ?? '']))
    }
    expect(offeredBy('quartz-ts au')).toEqual(['audit'])
    expect(offeredBy('quartz-ts ')).toEqual(expect.arrayContaining(commands.map(({ spec }) => spec.name)))
    expect(offeredBy('quartz-ts audit --outcome ')).toEqual(['done', 'failed', 'refused'])
    expect(offeredBy('quartz-ts log --fol')).toEqual(['--follow'])
    expect(offeredBy('quartz-ts pause trig')).toEqual(
      expect.arrayContaining(['trigger', 'trigger-group', 'triggers']),
    )
  })

  test('for another shell are a usage error', async () => {
    expect(await run(['completion', 'ksh'])).toMatchObject({ code: 2, err: /takes one of bash, zsh, fish/ })
  })
})
