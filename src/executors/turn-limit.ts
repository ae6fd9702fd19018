/** The longest that tasks run one after the other before timers and I/O have their turn, in milliseconds. */
export const turnMs = 5
