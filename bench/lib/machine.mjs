import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'

const require = createRequire(import.meta.url)

/** What the numbers were measured on. */
export function describeMachine() {
  const cpus = os.cpus()
  return {
    cpu: cpus[0]?.model ?? 'unknown',
    cores: cpus.length,
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    platform: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    v8: process.versions.v8,
  }
}

/** Installed versions of the package itself and of everything it is compared with. */
export function describeVersions() {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
  const own = read(new URL('../../package.json', import.meta.url))
  const bench = read(new URL('../package.json', import.meta.url))
  const peers = Object.keys(bench.dependencies).map((name) => [name, installedVersion(name, read)])
  return { [own.name]: own.version, ...Object.fromEntries(peers) }
}

/** Not every package exports its package.json, so look beside it. */
function installedVersion(name, read) {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return read(`${folder}/${name}/package.json`).version
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    }
  }
  return 'not installed'
}

export function loadAverage() {
  return os.loadavg()[0]
}
