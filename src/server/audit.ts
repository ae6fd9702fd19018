/**
 * What the server tells `onAudit`: one request that changed something, or was to, a login, or an export; also each
 * object that a bulk action changed, and its end, as if each were a request.
 */
export interface AuditRecord {
  readonly timeMs: number
  /** Name of the principal. Empty for a client that the server does not know, such as one whose login failed. */
  readonly by: string
  /** Where the request came from; `unknown` where the server cannot know. */
  readonly address: string
  /** The id of the operation. */
  readonly operation: string
  readonly scheduler: string
  /** The instance id of the node that was asked. */
  readonly node: string
  readonly params: unknown
  /** What was sent, with masked data: null for a login, the query for an export. */
  readonly request: unknown
  readonly dryRun: boolean
  /** The HTTP status of the answer. */
  readonly status: number
  /** The answer, with masked data: edits have `before` and `after` in it. */
  readonly answer: unknown
}
