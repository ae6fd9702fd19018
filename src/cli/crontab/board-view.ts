/** Shows a board while it changes. */
export interface BoardView {
  start(): void
  /** A line for the reader that is not about one job. */
  note(text: string): void
  /** Shows the last state and leaves the terminal as it was found. */
  stop(): void
}
