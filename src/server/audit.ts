/** What the server tells `onAudit`: one request that changed something, or was to. */
export interface AuditRecord {
  readonly timeMs: number
  /** Name of the principal. */
  readonly by: string
  /** Where the request came from; `unknown` where the server cannot know. */
  readonly address: string
  /** The id of the operation. */
  readonly operation: string
  readonly scheduler: string
  /** The instance id of the node that was asked. */
  readonly node: string
  readonly params: unknown
  /** What was sent, with masked data. */
  readonly request: unknown
  readonly dryRun: boolean
  /** The HTTP status of the answer. */
  readonly status: number
  /** The answer, with masked data: edits have `before` and `after` in it. */
  readonly answer: unknown
}
