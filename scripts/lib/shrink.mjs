// Makes code small for the packed file, and leaves in it what a stack shows.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { minify } from 'terser'
import { writeChanged } from './write-changed.mjs'

/**
 * Names of variables become short, those of functions, methods and classes stay. A line is a statement: its end costs
 * what a semicolon costs, and Node.js, which prints the line of an error that a program did not catch, prints a short
 * one.
 */
const options = {
  module: true,
  ecma: 2022,
  compress: false,
  keep_classnames: true,
  keep_fnames: true,
  // Without this comment webpack would load itself what the code names to Node.js.
  format: { comments: /webpackIgnore/, semicolons: false },
}

/** terser would shorten the names of private methods, too: it is given them as public ones, which it leaves alone. */
const mark = '$private_'

/** Takes seconds for all of the code, so a file keeps what was made, with the hash of what it was made of. */
export async function shrink(code, file) {
  const hash = createHash('sha256').update(JSON.stringify(options)).update(code).digest('hex')
  const first = `// ${hash}\n`
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (kept.startsWith(first)) return kept.slice(first.length)
  const methods = new Set(
    [...code.matchAll(/(?<![.\w])#(\w+)(?:\(| = (?:async|function|\(|\w+ =>))/g)].map(([, name]) => name),
  )
  const marked = code.replaceAll(/#([a-zA-Z]\w*)/g, (text, name) =>
    methods.has(name) ? `${mark}${name}` : text,
  )
  const made = (await minify(marked, options)).code.replaceAll(mark, '#')
  writeChanged(file, `${first}${made}`)
  return made
}
