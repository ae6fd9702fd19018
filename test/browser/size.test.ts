import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { builtPage } from '../support/dashboard-fixture.ts'

const html = readFileSync(join(builtPage, 'index.html'), 'utf8')
const all = ['index.html', ...readdirSync(join(builtPage, 'assets')).map((name) => join('assets', name))]

function gzipped(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(builtPage, file))).length, 0)
}

describe('the page that is built', () => {
  test('is less than 100 kB for the first load, compressed', () => {
    const named = all.filter((file) => file === 'index.html' || html.includes(file))
    // The page that is shown first, and what it loads, are beside what index.html names.
    const first = all.filter((file) => /overview/.test(file))
    expect(named.length).toBeGreaterThan(2)
    expect(first.length).toBeGreaterThan(0)
    expect(gzipped([...named, ...first])).toBeLessThan(100_000)
  })

  test('is less than 200 kB in all, compressed', () => {
    expect(gzipped(all)).toBeLessThan(200_000)
  })

  test('has no code or style in its HTML, which the policy would refuse', () => {
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>|<style|\bon\w+=|\bstyle=/)
    expect(html).toContain('__BASE_PATH__/assets/')
  })
})
