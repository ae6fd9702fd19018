import type { BooleanOption, OptionValues, StringOption } from '../command.ts'
import { UsageError } from '../command.ts'
import type { CliHost } from '../host.ts'
import { dstOption, requireDst, requireZone, zoneOption } from '../shared-options.ts'
import type { CrontabFileOptions } from './crontab-file.ts'

/** The names and kinds of {@link crontabFormatOptions}. */
export type CrontabFormatOptions = Readonly<
  Record<'zone' | 'dst' | 'user-column', StringOption> & Record<'seconds', BooleanOption>
>

/** The options that say how to read a crontab, for every command that reads one. */
export const crontabFormatOptions: CrontabFormatOptions = {
  zone: zoneOption,
  dst: dstOption,
  'user-column': {
    type: 'string',
    value: 'auto|yes|no',
    help:
      'Whether a user stands before the command, as in /etc/crontab (default auto: yes for /etc/crontab and ' +
      '/etc/cron.d/*, and where every line names a user of this machine, one of them root)',
  },
  seconds: {
    type: 'boolean',
    help: `Lines may have six time fields, seconds first; a comment '# quartz-ts: seconds' says so too`,
  },
}

/** @throws UsageError */
export function requireCrontabFormat(
  values: OptionValues<CrontabFormatOptions>,
  host: CliHost,
): CrontabFileOptions {
  const userColumn = values['user-column'] ?? 'auto'
  if (userColumn !== 'auto' && userColumn !== 'yes' && userColumn !== 'no') {
    throw new UsageError(`--user-column takes auto, yes or no, got '${userColumn}'.`)
  }
  return {
    zoneName: requireZone(values.zone).name,
    dst: requireDst(values.dst),
    userColumn,
    seconds: values.seconds ?? false,
    knownUsers: host.knownUsers(),
  }
}
