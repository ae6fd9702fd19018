// Puts those declarations into dist that a program can reach from an entry; most modules have none that matter there.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { writeChanged } from './write-changed.mjs'

/** Copies them from the folder of the compiler, and answers their paths in dist. */
export function copyDeclarations(root, compiled) {
  const { exports: targets } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.values(targets)
    .map((target) => /^\.\/dist\/(.+)\.(js|d\.ts)$/.exec(target.types ?? target)?.[1])
    .filter((name) => name !== undefined)
  const found = new Set()
  for (const name of entries) reach(join(compiled, `${name}.d.ts`), found)
  return [...found].map((file) => {
    const path = relative(compiled, file)
    writeChanged(join(root, 'dist', path), readFileSync(file, 'utf8'))
    return path
  })
}

function reach(file, found) {
  if (found.has(file)) return
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(
    /(?:\bfrom |\bimport\(|\bimport )'(\.[^']+)\.[jt]s'/g,
  )) {
    reach(join(dirname(file), `${path}.d.ts`), found)
  }
}
