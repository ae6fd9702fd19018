import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { connectionString, freshSchema } from './postgres.mjs'

// Debian's packages libquartz2-java, libpostgresql-jdbc-java, libhikaricp-java and libslf4j-java.
const jars = ['quartz2', 'postgresql', 'HikariCP', 'slf4j-api', 'slf4j-nop'].map(
  (name) => `/usr/share/java/${name}.jar`,
)
/** It is ended then: its server may have gone away. */
const limitMs = 600_000
const source = fileURLToPath(new URL('../java/JavaQuartzRate.java', import.meta.url))

/** Whether this machine has a JDK and Java Quartz. */
export function hasJavaQuartz() {
  return jars.every((jar) => existsSync(jar)) && existsSync('/usr/bin/javac')
}

/** Firings a second of Java Quartz 2.3 on the same server, lock on; `repeating` triggers, or as many as fire once. */
export async function javaQuartzRate(count, { batch, threads = 100, repeating = 0 }) {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-bench-java-'))
  const classPath = [folder, ...jars].join(':')
  const { schema, drop } = await freshSchema()
  try {
    execFileSync('javac', ['-cp', classPath, '-d', folder, source])
    const { hostname, port, username, password, pathname } = new URL(connectionString())
    const login = `user=${username}&password=${password}`
    const url = `jdbc:postgresql://${hostname}:${port}${pathname}?${login}&currentSchema=${schema}`
    const numbers = [count, batch, threads, repeating].map(String)
    const args = ['-cp', classPath, 'JavaQuartzRate', url, ...numbers]
    const { stdout } = await promisify(execFile)('java', args, { timeout: limitMs })
    return Number(stdout.trim().split('\n').at(-1))
  } finally {
    await drop()
    rmSync(folder, { recursive: true, force: true })
  }
}
