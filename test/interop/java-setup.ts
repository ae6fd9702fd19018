import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Class path that runs a Java node, or null on a machine that has no Java Quartz. */
    javaClassPath: string | null
  }
}

const folder = '/usr/share/java'
const jars = ['quartz2', 'postgresql', 'HikariCP', 'slf4j-api', 'slf4j-simple'].map((name) =>
  join(folder, `${name}.jar`),
)
const program = fileURLToPath(new URL('java/QuartzNode.java', import.meta.url))

/** Compiles the Java node; where that cannot be, says why and what brings it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = [...(hasCompiler() ? [] : ['javac']), ...jars.filter((jar) => !existsSync(jar))]
  if (missing.length > 0) {
    const text =
      `test/interop needs Java Quartz, and this machine lacks ${missing.join(', ')}: ` +
      'apt-get install openjdk-17-jdk-headless libquartz2-java libpostgresql-jdbc-java'
    if (process.env['QUARTZ_TS_REQUIRE_JAVA'] === '1') throw new Error(text)
    console.warn(`SKIPPED: ${text}`)
    project.provide('javaClassPath', null)
    return undefined
  }
  const classes = await mkdtemp(join(tmpdir(), 'quartz-ts-java-'))
  execFileSync('javac', ['-cp', jars.join(delimiter), '-d', classes, program], { stdio: 'inherit' })
  project.provide('javaClassPath', [classes, ...jars].join(delimiter))
  return () => rm(classes, { recursive: true, force: true })
}

function hasCompiler(): boolean {
  try {
    execFileSync('javac', ['-version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
