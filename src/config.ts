/** The settings of the command `quartz-ts`, for `quartz-ts.config.ts`. */
export { defineConfig, type QuartzConfig, type ServeConfig } from './cli/config/quartz-config.ts'
