import type * as client from 'prom-client'
import { checkMethods, checkOptions, checkThat } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { requireInteger } from '../../core/options.ts'
import { requirePackage } from '../../core/package-files.ts'
import type { SchedulerPlugin } from '../../scheduler/scheduler-plugin.ts'
import { type InstrumentSpec, prometheusName } from '../instruments.ts'
import { defaultMaxJobGroups, measuringPlugin } from '../measuring-plugin.ts'
import type { MetricsBackend, Reading } from '../metrics-backend.ts'
import type { PrometheusRegistry } from './prometheus-registry.ts'

/** Options of `prometheusPlugin`; all have defaults. */
export interface PrometheusPluginOptions {
  /**
   * A `Registry` of prom-client that gets the metrics; share it to have them beside your own. Default: a new one.
   */
  readonly register?: PrometheusRegistry
  /** How many job groups get a label of their own; all others together are `other`. 1 to 10,000, default 100. */
  readonly maxJobGroups?: number
}

/** The metrics of the schedulers that have this plugin, in the text format of Prometheus. */
export interface PrometheusPlugin extends SchedulerPlugin, PrometheusRegistry {}

const what = 'prometheusPlugin'

/**
 * Measures schedulers for Prometheus. Give one plugin to all schedulers of a process, and to `createServer` as
 * `metrics`, which then answers `/metrics`.
 *
 * @throws SchedulerError ERR_DRIVER_MISSING without the package prom-client
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is unknown or out of bounds
 */
export function prometheusPlugin(options: PrometheusPluginOptions = {}): PrometheusPlugin {
  checkOptions(what, options, {
    register: checkMethods('a Registry of prom-client', ['metrics', 'registerMetric']),
    maxJobGroups: checkThat('a number', (value) => value !== null),
  })
  const maxJobGroups = requireInteger(what, 'maxJobGroups', options.maxJobGroups ?? defaultMaxJobGroups, {
    min: 1,
    max: 10_000,
  })
  const prometheus = requirePackage('prom-client', what) as typeof client
  const register = (options.register ?? new prometheus.Registry()) as client.Registry
  return {
    ...measuringPlugin('prometheus', maxJobGroups, () => new PrometheusBackend(prometheus, register)),
    get contentType() {
      return register.contentType
    },
    metrics: () => register.metrics(),
  }
}

class PrometheusBackend implements MetricsBackend {
  readonly #client: typeof client
  readonly #register: client.Registry

  constructor(prometheus: typeof client, register: client.Registry) {
    this.#client = prometheus
    this.#register = register
  }

  histogram(spec: InstrumentSpec): (labels: readonly string[]) => (value: number) => void {
    const histogram = new this.#client.Histogram({
      ...this.#configOf(spec),
      buckets: [...(spec.buckets ?? [])],
    })
    return (labels) => {
      const child = histogram.labels(...labels)
      return (value) => {
        child.observe(value)
      }
    }
  }

  observe(spec: InstrumentSpec, read: () => Promise<readonly Reading[]>): void {
    const config = this.#configOf(spec)
    if (spec.kind === 'counter') {
      const counter = new this.#client.Counter({
        ...config,
        async collect() {
          const readings = await read()
          counter.reset()
          for (const { labels, value } of readings) counter.labels(...labels).inc(value)
        },
      })
      return
    }
    const gauge = new this.#client.Gauge({
      ...config,
      async collect() {
        const readings = await read()
        gauge.reset()
        for (const { labels, value } of readings) gauge.labels(...labels).set(value)
      },
    })
  }

  #configOf(spec: InstrumentSpec): {
    name: string
    help: string
    labelNames: string[]
    registers: [client.Registry]
  } {
    const name = prometheusName(spec)
    if (this.#register.getSingleMetric(name) !== undefined) {
      throw new InvalidArgumentError(
        'register',
        `${what}: 'register' has ${name} already. Give this scheduler the plugin that made it, or another registry.`,
        'ERR_INVALID_OPTION',
      )
    }
    return {
      name,
      help: spec.description,
      labelNames: [...spec.labels],
      registers: [this.#register],
    }
  }
}
