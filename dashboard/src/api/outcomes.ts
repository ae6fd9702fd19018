/** Filters of the history. A failure is what the status of jobs counts as one. */
export const failuresFilter = 'outcome:failed,timedOut,lost'

/** What did not succeed though it was to run: a veto is no failure. */
export const notSucceededFilter = 'outcome:failed,timedOut,lost,interrupted'
