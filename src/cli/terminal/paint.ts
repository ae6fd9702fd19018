/** The colours by their meaning. */
export type Tone = 'plain' | 'good' | 'bad' | 'busy' | 'faint' | 'strong'

/** Puts a tone on a text that has its final width already: colours take no room. */
export type Paint = (text: string, tone: Tone) => string

export const noPaint: Paint = (text) => text

/** Numbers of the escape sequences that begin and end a tone. */
const codes: Readonly<Record<Exclude<Tone, 'plain'>, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  busy: [36, 39],
  faint: [2, 22],
  strong: [1, 22],
}

export const ansiPaint: Paint = (text, tone) => {
  if (tone === 'plain') return text
  const [begin, end] = codes[tone]
  return `\u001b[${begin}m${text}\u001b[${end}m`
}
