import { describe, expect, test } from 'vitest'
import { NodeTrust } from '../../../../src/jobstore/sql/cluster/node-trust.ts'

/** The first instant, in hundreds of milliseconds, at which the trust does not hold any more. */
function endsAt(trust: NodeTrust, provenMs = Number.NEGATIVE_INFINITY): number {
  let atMs = 0
  while (trust.holdsAt(atMs, provenMs)) atMs += 100
  return atMs
}

describe('the trust of a node not to have been recovered', () => {
  test.each<readonly [string, (trust: NodeTrust) => void, number]>([
    ['is none before it has checked in', () => {}, 0],
    [
      'ends before the silence does after which it has failed',
      (trust) => {
        trust.checkedIn(1000, 'none')
      },
      5800,
    ],
    [
      'ends before the grace does when its row names a witness',
      (trust) => {
        trust.checkedIn(1000, 'named')
      },
      1800,
    ],
    [
      'goes on with each proof that its session lives, until the silence',
      (trust) => {
        trust.checkedIn(1000, 'named')
        trust.proven(1500)
      },
      2300,
    ],
    [
      'begins to need proofs when the witness is taken, before the row names it',
      (trust) => {
        trust.checkedIn(1000, 'none')
        trust.proven(1100)
      },
      1900,
    ],
    [
      'is not longer for the loss of the session',
      (trust) => {
        trust.checkedIn(1000, 'named')
        trust.lost()
      },
      1800,
    ],
    [
      'is that of the silence again when another way has written that there is no witness',
      (trust) => {
        trust.checkedIn(1000, 'named')
        trust.lost()
        trust.checkedIn(1100, 'unknown')
      },
      5900,
    ],
    [
      'needs proofs still when a new session has taken the witness meanwhile',
      (trust) => {
        trust.checkedIn(1000, 'named')
        trust.lost()
        trust.proven(1050)
        trust.checkedIn(1100, 'unknown')
      },
      1900,
    ],
    [
      'needs none when the session checks in without a witness',
      (trust) => {
        trust.checkedIn(1000, 'named')
        trust.checkedIn(1100, 'none')
      },
      5900,
    ],
  ])('%s', (_what, tell, untilMs) => {
    const trust = new NodeTrust({ failedAfterMs: 6000 })
    tell(trust)
    expect(endsAt(trust)).toBe(untilMs)
  })

  test('goes by what the thread knows of the session, where there is a witness', () => {
    const trust = new NodeTrust({ failedAfterMs: 6000 })
    trust.checkedIn(1000, 'none')
    expect(endsAt(trust, 1600)).toBe(5800)
    trust.checkedIn(1000, 'named')
    expect(endsAt(trust, 1600)).toBe(2400)
  })

  test('is lost with the witness once, and with nothing where there is none', () => {
    const trust = new NodeTrust({ failedAfterMs: 6000 })
    expect(trust.lost()).toBe(false)
    trust.checkedIn(1000, 'named')
    expect([trust.lost(), trust.lost()]).toEqual([true, false])
  })
})
