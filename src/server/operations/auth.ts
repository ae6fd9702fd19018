import { z } from 'zod'
import type { KnownPrincipal } from '../auth/authenticator.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { type Principal, roles } from '../catalogue/role.ts'
import { nothing } from '../wire/fields.ts'

/** Who may come in, and how: names and roles, and never a secret. */
export interface AuthJson {
  /** What begins a session; null where the host authenticates, which alone knows whom. */
  readonly credentials: 'token' | 'password' | null
  readonly items: readonly (Principal & Pick<KnownPrincipal, 'kept'>)[]
  /** How long a session lasts. Milliseconds. */
  readonly sessionMs: number
}

const role = z.enum(roles)

const listAuth: Operation = operation({
  id: 'auth.list',
  method: 'GET',
  path: '/auth',
  summary: 'Who may come in: the names and roles of users or tokens, and never a secret.',
  role: 'admin',
  reach: null,
  isServerWide: true,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({
    credentials: z.enum(['token', 'password']).nullable(),
    items: z.array(
      z.strictObject({
        name: z.string(),
        role: role.nullable(),
        jobGroups: z.record(z.string(), role).exactOptional(),
        kept: z.enum(['options', 'file', 'memory']),
      }),
    ),
    sessionMs: z.number(),
  }),
  async handle({ parts: { authenticator, sessionMs } }) {
    const items = authenticator.known.map(({ principal, kept }) => {
      const { name, role: base, jobGroups } = principal
      return { name, role: base, ...(jobGroups !== undefined && { jobGroups }), kept }
    })
    return { credentials: authenticator.credentials, items, sessionMs }
  },
})

export const authOperations: readonly Operation[] = [listAuth]
