import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { InvalidArgumentError, SchedulerError } from './errors.ts'
import { describeValue, isObject } from './options.ts'

/**
 * Where a module is, by its own `import.meta.url`. A bundle in CommonJS has none, and webpack writes down where the
 * module was as it made the bundle, which may run elsewhere; then it is the place of the bundle.
 */
function placeOf(moduleUrl: string | undefined): string {
  if (moduleUrl !== undefined) {
    // Where a bundler puts `__filename` in its place, it is a path.
    const url = URL.canParse(moduleUrl) ? new URL(moduleUrl) : pathToFileURL(moduleUrl)
    if (existsSync(url)) return url.href
  }
  return pathToFileURL(bundlePath()).href
}

function bundlePath(): string {
  try {
    return __filename
  } catch {
    // An ES module has none. `typeof` would not tell: webpack puts its answer into the bundle, and that is wrong here.
    return join(process.cwd(), 'bundle.js')
  }
}

/** `require` as it works from a module, for optional packages. */
export function requireFrom(moduleUrl: string | undefined): NodeJS.Require {
  // By the module, because webpack puts `undefined` in the place of a `createRequire` that is imported by its name.
  return nodeModule.createRequire(placeOf(moduleUrl))
}

/** Loads an optional peer of this package. @throws SchedulerError ERR_DRIVER_MISSING with what to install */
export function requirePackage(name: string, who: string): unknown {
  try {
    return requireFrom(import.meta.url)(name)
  } catch (cause) {
    throw packageMissing(name, who, cause)
  }
}

export function packageMissing(
  name: string,
  who: string,
  cause: unknown,
  all: readonly string[] = [name],
): SchedulerError {
  return new SchedulerError('ERR_DRIVER_MISSING', `${who} ${needs(name, cause, all)}`, { cause })
}

/** That somebody needs a package, and what to do, by the error of loading it. */
export function needs(name: string, cause: unknown, all: readonly string[] = [name]): string {
  if (isNotInstalled(name, cause)) return `needs the package ${name}. Run: npm install ${all.join(' ')}`
  return `needs the package ${name}, which ${couldNotBeLoaded(name, cause)}`
}

/** Whether it is the package itself that is missing, and no part of it. */
export function isNotInstalled(name: string, error: unknown): boolean {
  if (!isObject(error)) return false
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  return isNotFound && String(message).includes(`'${name}'`)
}

export function couldNotBeLoaded(name: string, error: unknown): string {
  // Node.js tells in further lines who asked for a module.
  const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
  return `could not be loaded: ${said.replace(/\.$/, '')}. ${inBundle(name)}`
}

export function inBundle(name: string): string {
  return `If this is a bundle, leave the package out of it (external: ${name}).`
}

/** A file of this package by its path from a module; in a bundle there may be none. */
export function fileBeside(moduleUrl: string | undefined, path: string): URL {
  return new URL(path, placeOf(moduleUrl))
}

/**
 * A module of this package that a thread runs, by two paths without an extension: from the source that names it, which
 * is also where a bundle may have it, and from the root of the package's code. The built code that names it is in that
 * root or in a folder of it. What a bundler wrote as .mjs or .cjs has files of the same kind beside it.
 */
export function moduleBeside(moduleUrl: string | undefined, path: string, pathFromRoot: string): URL {
  const place = placeOf(moduleUrl)
  const [extension = 'js'] = /(?<=\.)(?:ts|[mc]?js)$/.exec(place) ?? []
  const at = (candidate: string, ending: string): URL => new URL(`${candidate}.${ending}`, place)
  const urls = [path, `../${pathFromRoot}`, `./${pathFromRoot}`].map((candidate) => at(candidate, extension))
  if (extension === 'mjs' || extension === 'cjs') urls.push(at(path, 'js'))
  const beside = at(path, extension)
  return urls.find((url) => existsSync(fileURLToPath(url))) ?? beside
}

/** An entry file that the user names. @throws InvalidArgumentError ERR_INVALID_OPTION when it is no `file:` URL */
export function requireEntryUrl(what: string, field: string, value: unknown): URL {
  const text = value instanceof URL ? value.href : value
  if (typeof text === 'string' && URL.canParse(text) && new URL(text).protocol === 'file:')
    return new URL(text)
  throw new InvalidArgumentError(
    field,
    `${what}: '${field}' must be a file URL, as in new URL('./entry.js', import.meta.url), got ` +
      `${describeValue(text)}.`,
    'ERR_INVALID_OPTION',
  )
}

/** The code that a thread of this package runs. */
export interface ThreadEntry {
  readonly url: URL
  /** The package's own name of it, as in `quartz-ts/worker-entry`. */
  readonly specifier: string
  /** The option that names it. */
  readonly option: string
}

/** @throws SchedulerError ERR_ENTRY_MISSING when there is no such file, as in most bundles */
export function requireEntry({ url, specifier, option }: ThreadEntry): void {
  const path = fileURLToPath(url)
  if (existsSync(path)) return
  throw new SchedulerError(
    'ERR_ENTRY_MISSING',
    `The code of a thread is not where it should be: there is no file '${path}'. A bundle has to be told: name it ` +
      `with ${option}, as in new URL(import.meta.resolve('${specifier}')), or make '${specifier}' an entry of the ` +
      'bundle, too, and name the file that comes out.',
  )
}
