import { z } from 'zod'
import { auditOutcomes } from '../../jobstore/audit.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { auditCursorJson, auditEntryJson } from '../wire/audit.ts'
import { nothing, textUpTo } from '../wire/fields.ts'
import { cursorsOf, pageJson, pageQuery, windowOf, windowQuery } from '../wire/pages.ts'

const listAudit: Operation = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/audit',
  summary:
    'Who did what, from where, on any node, as far as the store remembers it; the newest first. ' +
    'Written about once a second.',
  role: 'admin',
  reach: null,
  isList: true,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({
    ...pageQuery,
    by: textUpTo(200).optional().describe('Who asked.'),
    operation: textUpTo(200).optional().describe('The id of the operation.'),
    group: textUpTo(500).optional().describe('The group of what it was about.'),
    name: textUpTo(500).optional().describe('The name of what it was about, or its id.'),
    outcome: z.enum(auditOutcomes).optional(),
    node: textUpTo(200).optional().describe('The node that was asked.'),
    ...windowQuery('At or after', 'Before'),
  }),
  body: null,
  answer: pageJson(auditEntryJson),
  async handle({ scheduler, params, query }) {
    const { take, by, operation: id, group, name, outcome, node } = query
    const { after, next } = cursorsOf('audit.list', { params, query }, auditCursorJson)
    const found = await scheduler.queryAudit({
      take,
      ...(after !== undefined && { after }),
      ...(by !== undefined && { by }),
      ...(id !== undefined && { operation: id }),
      ...(group !== undefined && { targetGroup: group }),
      ...(name !== undefined && { targetName: name }),
      ...(outcome !== undefined && { outcome }),
      ...(node !== undefined && { node }),
      ...windowOf(query),
    })
    return { items: [...found.items], next: next(found.next) }
  },
})

export const auditOperations: readonly Operation[] = [listAudit]
