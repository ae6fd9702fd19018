import type { PageJson } from '../../server/wire/pages.ts'
import type { BooleanOption, OptionValues, StringOption } from '../command.ts'
import { UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { requireWhole } from '../shared-options.ts'
import { type Column, Table } from '../terminal/table.ts'

export const jsonOption: BooleanOption = { type: 'boolean', help: 'Print what the API answers, as JSON' }

type PageOptions = Readonly<Record<'take' | 'after', StringOption> & Record<'all' | 'json', BooleanOption>>

/** What every list takes. */
export const pageOptions: PageOptions = {
  take: { type: 'string', value: 'N', help: 'How many lines, 1 to 100000 (default 100)' },
  after: { type: 'string', value: 'CURSOR', help: 'Go on after an earlier list: what it printed at its end' },
  all: { type: 'boolean', help: 'All lines' },
  json: jsonOption,
}

/** Most items of one request. */
const requestMax = 1000

export interface PagedList<Item> {
  readonly load: (take: number, after: string | undefined) => Promise<PageJson<Item>>
  readonly columns: readonly Column<Item>[]
  /** What is said of an empty list, as in `No jobs.` */
  readonly none: string
}

/** Prints a list page by page, so that its length costs no memory; resolves with the exit code. */
export async function printPages<Item>(
  { load, columns, none }: PagedList<Item>,
  values: OptionValues<PageOptions>,
  { stdout, stderr }: CliHost,
): Promise<number> {
  if (values.all === true && values.take !== undefined)
    throw new UsageError('--all and --take: give one of them.')
  const wanted =
    values.all === true ? Infinity : requireWhole('--take', values.take ?? '100', { min: 1, max: 100_000 })
  const printer =
    values.json === true ? new JsonItems<Item>(stdout.write.bind(stdout)) : new Table(columns, stdout)
  let [printed, after]: [number, string | undefined] = [0, values.after]
  do {
    const page = await load(Math.min(requestMax, wanted - printed), after)
    if (page.items.length > 0) printer.write(page.items)
    printed += page.items.length
    after = page.next ?? undefined
  } while (after !== undefined && printed < wanted)
  if (printer instanceof JsonItems) printer.end(after ?? null)
  else if (printed === 0) stdout.write(`${none}\n`)
  else if (after !== undefined) stderr.write(`There are more: --all, or --after ${after}\n`)
  return exitCodes.ok
}

/** A list that the server sends in one piece. */
export async function printItems<Item>(
  items: readonly Item[],
  { columns, none }: Pick<PagedList<Item>, 'columns' | 'none'>,
  values: { readonly json?: boolean },
  host: CliHost,
): Promise<number> {
  const load = async (): Promise<PageJson<Item>> => ({ items, next: null })
  return printPages({ load, columns, none }, { ...values, all: true }, host)
}

/** One JSON document, an item a line, written as the items come. */
class JsonItems<Item> {
  readonly #print: (text: string) => void
  #written = 0

  constructor(print: (text: string) => void) {
    this.#print = print
  }

  write(items: readonly Item[]): void {
    for (const item of items) {
      this.#print(`${this.#written === 0 ? '{"items":[' : ','}\n${JSON.stringify(item)}`)
      this.#written++
    }
  }

  end(next: string | null): void {
    this.#print(`${this.#written === 0 ? '{"items":[' : ''}\n],"next":${JSON.stringify(next)}}\n`)
  }
}
