import type { Command } from './command.ts'
import { completionCommand } from './completion/completion-command.ts'
import { crontabCommand } from './crontab/crontab-command.ts'
import { migrateCommand } from './migrate-command.ts'
import { nextCommand } from './next-command.ts'
import { hashPasswordCommand, newTokenCommand } from './secret-commands.ts'
import { serveCommand } from './serve-command.ts'
import { auditCommand } from './steering/audit-command.ts'
import { dumpCommand, exportCommand, importCommand } from './steering/definitions-commands.ts'
import { historyCommand } from './steering/history-command.ts'
import { interruptCommand } from './steering/interrupt-command.ts'
import { jobsCommand } from './steering/jobs-command.ts'
import { logCommand } from './steering/log-command.ts'
import { misfiresCommand } from './steering/misfires-command.ts'
import { nodesCommand } from './steering/nodes-command.ts'
import { pauseCommand, resumeCommand } from './steering/pause-command.ts'
import { runCommand } from './steering/run-command.ts'
import { shardsCommand } from './steering/shards-command.ts'
import { statusCommand } from './steering/status-command.ts'
import { resetErrorCommand, skipCommand } from './steering/trigger-commands.ts'
import { triggersCommand } from './steering/triggers-command.ts'
import { validateCommand } from './validate-command.ts'
import { xxlCommand } from './xxl/xxl-command.ts'

const allButCompletion: readonly Command[] = [
  crontabCommand,
  serveCommand,
  migrateCommand,
  nextCommand,
  validateCommand,
  jobsCommand,
  triggersCommand,
  nodesCommand,
  statusCommand,
  historyCommand,
  logCommand,
  auditCommand,
  misfiresCommand,
  runCommand,
  pauseCommand,
  resumeCommand,
  interruptCommand,
  shardsCommand,
  skipCommand,
  resetErrorCommand,
  exportCommand,
  importCommand,
  xxlCommand,
  dumpCommand,
  hashPasswordCommand,
  newTokenCommand,
]

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [...allButCompletion, completionCommand(allButCompletion)]
