import { SchedulerError } from '../core/errors.ts'
import { requireFrom } from '../core/package-files.ts'

/** Loads an optional peer of this package. @throws SchedulerError ERR_DRIVER_MISSING with what to install */
export function requirePackage(name: string, who: string): unknown {
  try {
    return requireFrom(import.meta.url)(name)
  } catch (cause) {
    throw new SchedulerError(
      'ERR_DRIVER_MISSING',
      `${who} needs the package ${name}. Run: npm install ${name}`,
      { cause },
    )
  }
}
