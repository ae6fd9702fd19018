import type * as api from '@opentelemetry/api'
import { checkMethods, checkOptions, checkThat } from '../../core/arguments.ts'
import { requireInteger } from '../../core/options.ts'
import { requirePackage } from '../../core/package-files.ts'
import { packageVersion } from '../../core/version.ts'
import type { SchedulerPlugin } from '../../scheduler/scheduler-plugin.ts'
import { combinedProbe, type ProbeContext, type SchedulerProbe } from '../../scheduler/scheduler-probe.ts'
import { attributeName, type InstrumentSpec } from '../instruments.ts'
import { defaultMaxJobGroups, measuringPlugin } from '../measuring-plugin.ts'
import type { MetricsBackend, Reading } from '../metrics-backend.ts'
import { TracingProbe } from './tracing-probe.ts'

/** A `TracerProvider` of @opentelemetry/api. */
export interface OpenTelemetryTracerProvider {
  getTracer(name: string, version?: string): unknown
}

/** A `MeterProvider` of @opentelemetry/api. */
export interface OpenTelemetryMeterProvider {
  getMeter(name: string, version?: string): unknown
}

/** Options of `openTelemetryPlugin`; all have defaults. */
export interface OpenTelemetryPluginOptions {
  /** Gets the spans. Default: the provider that is registered when the scheduler is made. */
  readonly tracerProvider?: OpenTelemetryTracerProvider
  /** Gets the measurements. Default: the provider that is registered when the scheduler is made. */
  readonly meterProvider?: OpenTelemetryMeterProvider
  /** How many job groups get an attribute of their own; all others together are `other`. 1 to 10,000, default 100. */
  readonly maxJobGroups?: number
}

const what = 'openTelemetryPlugin'
const scope = 'quartz-ts'

/**
 * Traces and measures schedulers with OpenTelemetry. Only the API is used: exporters, sampling and the context manager
 * are those of the SDK that the process has set up before.
 *
 * @throws SchedulerError ERR_DRIVER_MISSING without the package @opentelemetry/api
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is unknown or out of bounds
 */
export function openTelemetryPlugin(options: OpenTelemetryPluginOptions = {}): SchedulerPlugin {
  checkOptions(what, options, {
    tracerProvider: checkMethods('a TracerProvider', ['getTracer']),
    meterProvider: checkMethods('a MeterProvider', ['getMeter']),
    maxJobGroups: checkThat('a number', (value) => value !== null),
  })
  const maxJobGroups = requireInteger(what, 'maxJobGroups', options.maxJobGroups ?? defaultMaxJobGroups, {
    min: 1,
    max: 10_000,
  })
  const otel = requirePackage('@opentelemetry/api', what) as typeof api
  const measuring = measuringPlugin('openTelemetry', maxJobGroups, () => {
    const provider = (options.meterProvider ?? otel.metrics.getMeterProvider()) as api.MeterProvider
    return new OpenTelemetryBackend(provider.getMeter(scope, packageVersion), otel)
  })
  return {
    ...measuring,
    probe(context: ProbeContext): SchedulerProbe {
      const provider = (options.tracerProvider ?? otel.trace.getTracerProvider()) as api.TracerProvider
      const tracing = new TracingProbe(context, otel, provider.getTracer(scope, packageVersion))
      return combinedProbe([tracing, measuring.probe(context)]) ?? tracing
    },
  }
}

class OpenTelemetryBackend implements MetricsBackend {
  readonly #meter: api.Meter
  readonly #api: typeof api

  constructor(meter: api.Meter, otel: typeof api) {
    this.#meter = meter
    this.#api = otel
  }

  histogram(spec: InstrumentSpec): (labels: readonly string[]) => (value: number) => void {
    const histogram = this.#meter.createHistogram(spec.name, {
      description: spec.description,
      unit: spec.unit,
      advice: { explicitBucketBoundaries: [...(spec.buckets ?? [])] },
    })
    const { ROOT_CONTEXT } = this.#api
    return (labels) => {
      const attributes = attributesOf(spec, labels)
      return (value) => {
        histogram.record(value, attributes, ROOT_CONTEXT)
      }
    }
  }

  observe(spec: InstrumentSpec, read: () => Promise<readonly Reading[]>): void {
    const about = { description: spec.description, unit: spec.unit }
    const instrument =
      spec.kind === 'counter'
        ? this.#meter.createObservableCounter(spec.name, about)
        : this.#meter.createObservableGauge(spec.name, about)
    instrument.addCallback(async (result) => {
      for (const { labels, value } of await read()) result.observe(value, attributesOf(spec, labels))
    })
  }
}

function attributesOf(spec: InstrumentSpec, labels: readonly string[]): api.Attributes {
  return Object.fromEntries(spec.labels.map((name, index) => [attributeName(name), labels[index] ?? '']))
}
