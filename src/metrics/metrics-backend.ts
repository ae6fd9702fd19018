import type { InstrumentSpec } from './instruments.ts'

/** One value of a counter or gauge, with its labels in the order of the instrument. */
export interface Reading {
  readonly labels: readonly string[]
  readonly value: number
}

/** Where measurements go: an exporter. */
export interface MetricsBackend {
  /** Makes a histogram; it answers the recorder of one set of labels. */
  histogram(spec: InstrumentSpec): (labels: readonly string[]) => (value: number) => void
  /** Makes a counter or a gauge, which is read whenever the exporter collects. A counter reads its total. */
  observe(spec: InstrumentSpec, read: () => Promise<readonly Reading[]>): void
}
