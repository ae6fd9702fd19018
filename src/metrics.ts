/** Measurements for Prometheus; needs the package prom-client. */
export {
  type PrometheusPlugin,
  type PrometheusPluginOptions,
  type PrometheusRegistry,
  prometheusPlugin,
} from './metrics/prometheus/prometheus-plugin.ts'
