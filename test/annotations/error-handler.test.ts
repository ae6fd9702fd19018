import { expect, test } from 'vitest'
import { logAndRethrow, logAndSuppress } from '../../src/annotations/error-handler.ts'

test('a failing task stays what the future fails with, or is suppressed, although the logger fails', () => {
  const broken = (): never => {
    throw new Error('disk full')
  }
  const logger = { debug: broken, info: broken, warn: broken, error: broken }
  expect(() => logAndSuppress(logger)(new Error('planned'))).not.toThrow()
  expect(() => logAndRethrow(logger)(new Error('planned'))).toThrow('planned')
})
