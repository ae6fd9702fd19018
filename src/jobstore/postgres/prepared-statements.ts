import { createHash } from 'node:crypto'
import type { SqlStatement } from '../sql/kernel/statement.ts'
import type { PipelinedStatement } from './pipeline.ts'

/** A statement this short is parsed as fast as it is found again. */
const trifles = /^(BEGIN|COMMIT|ROLLBACK)\b/

/** More than this would be a leak of texts that differ each time: the server keeps each on every connection. */
export const mostNames = 500

/** Names the texts of statements, so that the server plans each once per connection. */
export class PreparedStatements {
  readonly #names = new Map<string, string>()
  readonly #isOn: boolean

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  /** Composed texts have no names: they would use up those of the texts that fire triggers. */
  named({ text, values, isComposed }: SqlStatement): PipelinedStatement {
    return { text, values, name: this.#isOn && isComposed !== true ? this.#nameOf(text) : null }
  }

  #nameOf(text: string): string | null {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= mostNames || trifles.test(text)) return null
    // Made of the text, because two stores may share the user's pool.
    const name = `quartz_ts_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    this.#names.set(text, name)
    return name
  }
}
