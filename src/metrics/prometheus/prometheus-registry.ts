/** Measurements in the text format of Prometheus: a `Registry` of prom-client, as far as it is used. */
export interface PrometheusRegistry {
  readonly contentType: string
  metrics(): Promise<string>
}
