import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  nextTriggerState,
  reportedTriggerState,
  storedTriggerStates,
  triggerActions,
} from '../../src/jobstore/trigger-state.ts'

const page = new URL('../../docs/internals/trigger-states.md', import.meta.url)
const begin = '<!-- printed from src/jobstore/trigger-state.ts -->\n'
const end = '<!-- end -->\n'

function printTable(): string {
  const header = ['action', ...storedTriggerStates]
  const rows = triggerActions.map((action) => [
    `\`${action}\``,
    ...storedTriggerStates.map((state) => nextTriggerState(state, action) ?? '-'),
  ])
  const reported = ['users are told', ...storedTriggerStates.map(reportedTriggerState)]
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return [line(header), line(header.map(() => '---')), ...rows.map(line), line(reported)].join('')
}

test('the page of trigger states shows the table that the code executes (UPDATE_DOCS=1 prints it anew)', () => {
  const text = readFileSync(page, 'utf8')
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end)
  expect(from).toBeGreaterThan(begin.length)
  if (process.env['UPDATE_DOCS'] === '1') {
    writeFileSync(page, `${text.slice(0, from)}\n${printTable()}\n${text.slice(to)}`)
    return
  }
  expect(text.slice(from, to).trim()).toBe(printTable().trim())
})
