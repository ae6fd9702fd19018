import { describe, expect, test } from 'vitest'
import { projectFiles, type SourceFile } from '../support/source-files.ts'

/** Folders whose every word is held to the list below. */
const roots = ['src', 'docs']

/** Phrases that hide who acts, and what to write instead. Matched in any case, and over the end of a line. */
const refused: Readonly<Record<string, string>> = {
  nobody: 'name the node, the loop or the caller that does not',
  whoever: 'name the caller',
  'tells of': 'say which event is sent, or which function is called',
  'lets go of': 'say what is closed, released or forgotten',
  'come to be': 'say what is made, and by what',
}

const gap = String.raw`\s+(?:(?:\*|//)\s+)?`
const patterns = Object.entries(refused).map(([phrase, remedy]) => ({
  phrase,
  remedy,
  pattern: new RegExp(String.raw`\b${phrase.replaceAll(' ', gap)}\b`, 'gi'),
}))

function refusedIn({ path, text }: SourceFile): string[] {
  return patterns.flatMap(({ phrase, remedy, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${path}:${line}: '${phrase}': ${remedy}`
    }),
  )
}

describe('plain words', () => {
  test.each(roots)('%s names the actor', (root) => {
    const files = projectFiles(new RegExp(String.raw`^${root}/.*\.(ts|md)$`))
    expect(files.length).toBeGreaterThan(0)
    expect(files.flatMap(refusedIn)).toEqual([])
  })

  test('a refused phrase is found in any case and over the end of a line', () => {
    const text = 'a\n/**\n * Nobody waits. It tells\n * of it.\n */\n// it lets\n// go of it\n'
    expect(refusedIn({ path: 'src/planted.ts', text })).toEqual([
      expect.stringContaining("src/planted.ts:3: 'nobody'"),
      expect.stringContaining("src/planted.ts:3: 'tells of'"),
      expect.stringContaining("src/planted.ts:6: 'lets go of'"),
    ])
  })
})
