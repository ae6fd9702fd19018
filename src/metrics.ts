/** Measurements for Prometheus; needs the package prom-client. */
export {
  type PrometheusPlugin,
  type PrometheusPluginOptions,
  prometheusPlugin,
} from './metrics/prometheus/prometheus-plugin.ts'
export type { PrometheusRegistry } from './metrics/prometheus/prometheus-registry.ts'
