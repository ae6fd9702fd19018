/** What the colours depend on beside the choice of a theme: that of the system, the viewer's own colours, and paper. */
const media = ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'].map((query) =>
  matchMedia(query),
)

/** Calls back whenever what was drawn has the wrong colours; the function that it answers ends that. */
export function onLookChange(change: () => void): () => void {
  for (const each of media) each.addEventListener('change', change)
  return () => {
    for (const each of media) each.removeEventListener('change', change)
  }
}
