import { describe, expect, test } from 'vitest'
import { projectFiles } from '../support/source-files.ts'

/** As many characters as the column of the documentation site shows; see docs/.vitepress/theme/code.css. */
const codeColumns = 88

const guides = projectFiles(/^docs\/guide\/[\w-]+\.md$/)
const pages = [...guides, ...projectFiles(/^(README|docs\/index|docs\/introduction\/[\w-]+)\.md$/)]

describe('pages', () => {
  test('have samples whose lines fit the column', () => {
    expect(pages.length).toBeGreaterThan(30)
    const tooLong = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm)]
        .flatMap(([, sample = '']) => sample.split('\n'))
        .filter((line) => line.length > codeColumns)
        .map((line) => `${path}: ${line}`),
    )
    expect(tooLong).toEqual([])
  })

  test('of the guide end with what goes wrong', () => {
    const lastChapters = guides.map(({ path, text }) => [path, text.match(/^## .*$/gm)?.at(-1)])
    expect(lastChapters).toEqual(guides.map(({ path }) => [path, '## When it goes wrong']))
  })
})
