/** The kind of the notes in which nodes share what is in force of sets of schedules; each has the name of its set. */
export const scheduleSetNotes = 'schedules'

/** So many characters from the beginning of such a note hold its generation. */
export const generationChars = 40

const beginning = /^\{"generation":(\d{1,16})[,}]/

/** The text of a note about a set, whose generation is known by its beginning. */
export function scheduleSetText(record: { readonly generation: number }): string {
  const { generation, ...others } = record
  return JSON.stringify({ generation, ...others })
}

/**
 * The generation of a set of schedules that is in force, by its note of the kind 'schedules' or the first 40 characters
 * of that. 0 where there is no note, or none that can be read.
 */
export function generationInForce(note: string | null): number {
  return Number(beginning.exec(note ?? '')?.[1] ?? 0)
}
