import type { EpochMs } from '../time/clock.ts'

/** A small text that the nodes of a cluster share. */
export interface SharedNote {
  readonly name: string
  /** 1 for a new note, one more with each change. */
  readonly version: number
  readonly text: string
}

/**
 * Small texts that the nodes of a cluster share, by kind and name: for what several nodes must agree on. A change names
 * the version that it has seen, so of several nodes that change the same note one succeeds. `clear` keeps them.
 */
export interface JobStoreNotes {
  /** The notes of a kind in order of their names, the first 1,000. */
  list(kind: string): Promise<readonly SharedNote[]>
  /** One note; null where there is none. */
  get(kind: string, name: string): Promise<SharedNote | null>
  /** Makes a note (`version` null) or changes it; false when there is one already, or not in that version. */
  put(kind: string, name: string, text: string, version: number | null): Promise<boolean>
  /** False when it is not there in that version. */
  delete(kind: string, name: string, version: number): Promise<boolean>
  /** The time of the data, the same for all nodes. Absent for a store whose data have none. */
  now?(): Promise<EpochMs>
}
