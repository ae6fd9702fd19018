import { styleText } from 'node:util'

/** What colours mean here. */
export type Tone = 'plain' | 'good' | 'bad' | 'busy' | 'faint' | 'strong'

/** Puts a tone on a text that has its final width already: colours take no room. */
export type Paint = (text: string, tone: Tone) => string

export const noPaint: Paint = (text) => text

const styles = {
  good: 'green',
  bad: 'red',
  busy: 'cyan',
  faint: 'dim',
  strong: 'bold',
} as const

export const ansiPaint: Paint = (text, tone) => (tone === 'plain' ? text : styleText(styles[tone], text))
