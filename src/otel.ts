/** Traces and measurements for OpenTelemetry; needs the package @opentelemetry/api. */
export {
  type OpenTelemetryMeterProvider,
  type OpenTelemetryPluginOptions,
  type OpenTelemetryTracerProvider,
  openTelemetryPlugin,
} from './metrics/otel/otel-plugin.ts'
export { traced } from './metrics/otel/traced.ts'
