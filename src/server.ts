/** The HTTP API of a scheduler; needs the packages hono, @hono/node-server and zod. */

export type { AuditRecord } from './server/audit.ts'
export type {
  HookAuthOptions,
  ServerAuth,
  ServerToken,
  ServerUser,
  TokenAuthOptions,
  UserAuthOptions,
} from './server/auth/auth-options.ts'
export { hashPassword } from './server/auth/passwords.ts'
export type { Principal, Role } from './server/catalogue/role.ts'
export { createServer } from './server/create-server.ts'
export type { CloseOptions, ListenOptions, SchedulerServer } from './server/server-face.ts'
export type { SchedulerServerOptions } from './server/server-options.ts'
