/** The lines of a text that people write, without their ends: those of Unix, or those of Windows. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}
