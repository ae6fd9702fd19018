import { systemIds } from '../../../core/ids.ts'
import type { Logger } from '../../../core/logger.ts'
import { unawaited } from '../../../core/promises.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import type { TypedEventEmitter } from '../../../core/typed-events.ts'
import type { Clock, EpochMs } from '../../../time/clock.ts'
import { InterruptibleSleep } from '../../../time/interruptible-sleep.ts'
import type { XxlJobExecutorEventMap } from '../executor-events.ts'
import type { Admins } from './admins.ts'

/** The longest time between two beats; admins forget an executor after 90 seconds. */
const beatMs = 30_000
/** A beat comes up to so much earlier, at random, so that executors that started together do not beat together. */
const jitterMs = 5000

export interface RegistrationOptions {
  readonly admins: Admins
  readonly appName: string
  /** As the admins are to call it. */
  readonly address: string
  readonly clock: Clock
  readonly logger: Logger
  readonly events: TypedEventEmitter<XxlJobExecutorEventMap>
  /** Called with each beat that an admin took. */
  onBeat(): void
}

/** Says to the admins that this executor is there: at once, and again before they forget it. */
export class Registration {
  readonly #options: RegistrationOptions
  readonly #sleep: InterruptibleSleep
  #loop: Promise<void> | null = null
  /** Null before the first answer. */
  #isRegistered: boolean | null = null
  #lastBeatMs: EpochMs | null = null

  constructor(options: RegistrationOptions) {
    this.#options = options
    this.#sleep = new InterruptibleSleep(options.clock)
  }

  /** When an admin took a beat last. */
  get lastBeatMs(): EpochMs | null {
    return this.#lastBeatMs
  }

  start(): void {
    this.#loop = this.#beats()
    unawaited(this.#loop, (error) => {
      logThrown(this.#options.logger, error, 'the registration with the XXL-JOB admins has ended')
    })
  }

  /** Ends the beats and takes the executor out of the admins' lists. Never rejects. */
  async stop(): Promise<void> {
    if (this.#loop === null) return
    this.#sleep.end()
    await this.#loop.catch(() => {})
    const { admins, appName, address, logger } = this.#options
    const answer = await admins.unregister(appName, address)
    if (answer.kind !== 'accepted') {
      logThrown(
        logger,
        answer.error,
        'no XXL-JOB admin took this executor off its list; it is dropped after 90 seconds',
        {},
        'warn',
      )
    }
  }

  async #beats(): Promise<void> {
    do await this.#beat()
    while (await this.#sleep.sleep(beatMs - Math.floor(systemIds.random() * jitterMs)))
  }

  async #beat(): Promise<void> {
    const { admins, appName, address, clock, logger, events } = this.#options
    const answer = await admins.register(appName, address)
    if (answer.kind === 'accepted') {
      this.#lastBeatMs = clock.now()
      if (this.#isRegistered !== true) {
        logger.info({ appName, address, adminAddress: answer.address }, 'registered with an XXL-JOB admin')
        events.emit('registered', { adminAddress: answer.address })
      }
      this.#isRegistered = true
      this.#options.onBeat()
      return
    }
    if (this.#isRegistered !== false) {
      logThrown(
        logger,
        answer.error,
        'no XXL-JOB admin takes the registration; it is tried again',
        { appName },
        'warn',
      )
      events.emit('registrationFailed', { error: answer.error })
    }
    this.#isRegistered = false
  }
}
