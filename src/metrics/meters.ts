import {
  type CounterId,
  type GaugeId,
  type HistogramId,
  type InstrumentId,
  type InstrumentSpec,
  instruments,
} from './instruments.ts'
import type { MetricsBackend, Reading } from './metrics-backend.ts'
import { BoundedGroups, type Cell, readingsOf, Series } from './series.ts'

type Recorder = (value: number) => void
export type GaugeReader = () => Promise<readonly Reading[]>

/** The instruments of one exporter, shared by all schedulers that it measures. */
export class Meters {
  readonly groups: BoundedGroups
  readonly #counters = new Map<CounterId, Series<Cell>>()
  readonly #histograms = new Map<HistogramId, Series<Recorder>>()
  readonly #gauges = new Map<GaugeId, Set<GaugeReader>>()

  constructor(backend: MetricsBackend, maxJobGroups: number) {
    this.groups = new BoundedGroups(maxJobGroups)
    for (const [id, spec] of Object.entries(instruments) as [InstrumentId, InstrumentSpec][]) {
      if (spec.kind === 'histogram') {
        this.#histograms.set(id as HistogramId, new Series(backend.histogram(spec)))
      } else if (spec.kind === 'counter') {
        const cells = new Series<Cell>(() => ({ value: 0 }))
        this.#counters.set(id as CounterId, cells)
        backend.observe(spec, async () => readingsOf(cells))
      } else {
        const readers = new Set<GaugeReader>()
        this.#gauges.set(id as GaugeId, readers)
        backend.observe(spec, () => readAll(readers))
      }
    }
  }

  counter(id: CounterId): Series<Cell> {
    return found(this.#counters, id)
  }

  histogram(id: HistogramId): Series<Recorder> {
    return found(this.#histograms, id)
  }

  /** Has a gauge read by `read` as well; returns a function that ends it. */
  gauge(id: GaugeId, read: GaugeReader): () => void {
    const readers = found(this.#gauges, id)
    readers.add(read)
    return () => {
      readers.delete(read)
    }
  }
}

async function readAll(readers: ReadonlySet<GaugeReader>): Promise<readonly Reading[]> {
  const readings: Reading[] = []
  for (const read of readers) readings.push(...(await read()))
  return readings
}

function found<Id, Value>(map: ReadonlyMap<Id, Value>, id: Id): Value {
  const value = map.get(id)
  if (value === undefined) throw new Error(`There is no instrument ${String(id)}.`)
  return value
}
