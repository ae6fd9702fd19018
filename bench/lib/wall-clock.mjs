/**
 * The wall clock with fractions of a millisecond: the monotonic clock, moved to where `Date.now()` ticks. Good for
 * minutes; `driftMs` says how far the two have moved apart since.
 */
export function fineWallClock() {
  const offsetMs = offsetAtTick()
  return {
    now: () => performance.now() + offsetMs,
    driftMs: () => offsetAtTick() - offsetMs,
  }
}

/** Wall minus monotonic, read at the moment `Date.now()` ticks; the largest of several is the least disturbed. */
function offsetAtTick() {
  let offsetMs = Number.NEGATIVE_INFINITY
  for (let attempt = 0; attempt < 20; attempt++) {
    const beforeMs = Date.now()
    let tickMs = beforeMs
    let readMs = 0
    while (tickMs === beforeMs) {
      tickMs = Date.now()
      readMs = performance.now()
    }
    offsetMs = Math.max(offsetMs, tickMs - readMs)
  }
  return offsetMs
}
