// node scripts/wrap-docs.mjs [--check] [FILE...]
//
// Wraps the prose of all pages at 120 columns; code, tables and headings stay as they are. With --check it changes
// nothing, names the pages that it would change, and fails when there are some.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const width = 120
const root = fileURLToPath(new URL('..', import.meta.url))

/** Lines that are kept: headings, tables, comments, definitions of links, containers of the site. */
const kept = /^\s*(#|\||<|\[[^\]]+\]: |:::)/
const item = /^(\s*)([-*]|\d+\.) +/
/** What would be a list, a heading or a quotation at the beginning of a line stays with the word before it. */
const marker = /^([-+*>|]|#+|\d+[.)])$/

/** The words of a text, of which none is broken: code with spaces in it is one word. */
function wordsOf(text) {
  const words = text.match(/(?:`[^`]*`|\S)+/g) ?? []
  return words.reduce((joined, word) => {
    if (joined.length > 0 && marker.test(word)) joined.push(`${joined.pop()} ${word}`)
    else joined.push(word)
    return joined
  }, [])
}

function wrap(text, first, rest) {
  const lines = []
  let line = ''
  for (const word of wordsOf(text)) {
    const indent = lines.length === 0 ? first : rest
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, (lines.length === 0 ? first : rest) + line]
}

/** A page with its paragraphs and list items wrapped. */
function wrapped(page) {
  const result = []
  let paragraph = null
  let fence = null
  const flush = () => {
    if (paragraph !== null) result.push(...wrap(paragraph.text, paragraph.first, paragraph.rest))
    paragraph = null
  }
  const lines = page.split('\n')
  const matter = lines[0] === '---' ? lines.indexOf('---', 1) : -1
  lines.forEach((line, index) => {
    const [opening] = /^\s*(```+|~~~+)/.exec(line) ?? []
    if (index <= matter || fence !== null || opening !== undefined || line.trim() === '' || kept.test(line)) {
      flush()
      result.push(line)
      if (fence !== null ? line.trim() === fence : opening !== undefined)
        fence = fence === null ? opening.trim() : null
      return
    }
    const [bullet] = item.exec(line) ?? []
    if (bullet !== undefined) {
      flush()
      paragraph = { text: line.slice(bullet.length), first: bullet, rest: ' '.repeat(bullet.length) }
    } else if (paragraph === null) {
      const [indent] = /^\s*/.exec(line)
      paragraph = { text: line, first: indent, rest: indent }
    } else {
      paragraph.text += ` ${line.trim()}`
    }
  })
  flush()
  return result.join('\n')
}

/** All pages that are written by hand. */
function pages() {
  const docs = readdirSync(join(root, 'docs'), { recursive: true }).map((path) => join(root, 'docs', path))
  const others = ['.', 'scripts', 'bench', '.github'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name)),
  )
  return [...docs, ...others].filter(
    (path) => path.endsWith('.md') && !/reference.api|\.vitepress/.test(path),
  )
}

const isCheck = process.argv.includes('--check')
const named = process.argv.slice(2).filter((argument) => argument !== '--check')
const changed = (named.length > 0 ? named : pages()).filter((path) => {
  const before = readFileSync(path, 'utf8')
  const after = wrapped(before)
  if (after === before) return false
  if (!isCheck) writeFileSync(path, after)
  return true
})
for (const path of changed) console.log(`${isCheck ? 'to be wrapped' : 'wrapped'}: ${relative(root, path)}`)
if (isCheck && changed.length > 0) {
  console.log('Run npm run format.')
  process.exitCode = 1
}
