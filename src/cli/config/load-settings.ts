import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InvalidArgumentError } from '../../core/errors.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { textOf } from '../../core/thrown-value.ts'
import { visible } from '../../core/visible-text.ts'
import { UsageError } from '../command.ts'
import { keepPrivate, requireStoreFile, storeAt } from '../stores.ts'
import type { Output } from '../terminal/output.ts'
import { readTextFile } from '../text-file.ts'
import { defineConfig, type QuartzConfig } from './quartz-config.ts'
import { readQuartzProperties } from './quartz-properties.ts'
import type { Settings, StoreSetting } from './settings.ts'

/** Names that are looked for in the current directory, in this order. */
const names = ['ts', 'mts', 'mjs', 'js'].map((extension) => `quartz-ts.config.${extension}`)

const noSettings: Settings = { store: null }

/**
 * Reads a file of settings: TypeScript or JavaScript with a default export, or Java's quartz.properties. What of the
 * latter is not used is named on `stderr`.
 *
 * @throws UsageError for a file that cannot be read, or says what is wrong
 */
export async function loadSettings(path: string, stderr: Output): Promise<Settings> {
  if (extname(path) !== '.properties') return settingsOf(await importConfig(resolve(path), path))
  const { settings, notes } = readQuartzProperties(readText(path))
  for (const note of notes) stderr.write(visible(`quartz-ts: ${path}: ${note}\n`))
  return settings
}

/** The settings of the current directory; none where there is no such file. */
export async function findSettings(stderr: Output): Promise<Settings> {
  const found = names.find((name) => existsSync(name))
  return found === undefined ? noSettings : loadSettings(found, stderr)
}

function readText(path: string): string {
  try {
    return readTextFile(path)
  } catch (error) {
    throw new UsageError(`--config: ${textOf(error)}`, { cause: error })
  }
}

async function importConfig(file: string, path: string): Promise<QuartzConfig> {
  if (!existsSync(file)) throw new UsageError(`--config: there is no file '${path}'.`)
  if (/\.[mc]?ts$/.test(file) && !canStripTypes()) {
    throw new UsageError(
      `'${path}' is TypeScript, which Node.js ${process.version} cannot read: use Node.js 22.18 or later, or ` +
        `write it as JavaScript in a file that ends in '.mjs'.`,
    )
  }
  let module: { readonly default?: unknown }
  try {
    module = (await import(/* webpackIgnore: true */ pathToFileURL(file).href)) as typeof module
  } catch (error) {
    throw new UsageError(`'${path}' cannot be loaded: ${textOf(error)}`, { cause: error })
  }
  return checkedConfig(module.default, path)
}

function canStripTypes(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown }
  return typeof typescript === 'string' || typescript === true
}

function checkedConfig(exported: unknown, path: string): QuartzConfig {
  if (typeof exported !== 'object' || exported === null) {
    throw new UsageError(`'${path}' must have a default export: export default defineConfig({ ... }).`)
  }
  try {
    return defineConfig(exported)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new UsageError(`'${path}': ${error.message}`, { cause: error })
  }
}

function settingsOf(config: QuartzConfig): Settings {
  const { jobStore, tablePrefix: prefix, schema, ...rest } = config
  if (jobStore === undefined) return { ...rest, store: null }
  if (typeof jobStore === 'string') return { ...rest, store: storeSetting(jobStore, { prefix, schema }) }
  const made: StoreSetting = {
    place: 'the store of the settings',
    requireThere: () => {},
    keepPrivate: () => {},
    open: () => jobStore,
  }
  return { ...rest, store: made }
}

/** A store that is named by text. */
export function storeSetting(
  place: string,
  tables: { readonly prefix?: string | undefined; readonly schema?: string | undefined },
): StoreSetting {
  return {
    place: withoutSecrets(place),
    requireThere: () => {
      requireStoreFile(place)
    },
    keepPrivate: () => {
      keepPrivate(place)
    },
    open: (migrate, history) =>
      storeAt(place, { ...tables, ...(history !== undefined && { history }) }, migrate),
  }
}
