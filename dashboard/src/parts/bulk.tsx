import { signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { BulkJson } from '../../../src/server/bulk/bulk-runs.ts'
import { call } from '../api/client.ts'
import { liveStatus, ownChange } from '../api/live.ts'
import type { BulkBody } from '../api/operations.ts'
import { isGone, mayBeDone } from '../api/problem.ts'
import { pageOfNow } from '../state/place.ts'
import { may, session } from '../state/session.ts'
import { say, unawaited } from '../state/toasts.ts'
import { later, nowMs } from '../time/clock.ts'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { Button } from './button.tsx'
import { confirm, Dialog } from './dialog.tsx'
import { useDismissal } from './dismissal.ts'
import { keyId, keyText } from './links.tsx'

const words = dictionary({
  en: {
    all: 'All that are listed',
    ask: (verb: string, count: number, of: 'jobs' | 'triggers') =>
      `${verb}: ${count} ${count === 1 ? of.slice(0, -1) : of}`,
    first: 'The first of them:',
    none: 'There is nothing to do it to.',
    paused: (count: number) =>
      `Runs that wait: ${count}. Their groups, the trigger group DEFAULT or everything is paused; resume that to let ` +
      'them run.',
    progress: (done: number, total: number) => `${done} of ${total} ${done === 1 ? 'is' : 'are'} done.`,
    failed: (count: number) => `${count} failed:`,
    stop: 'Stop',
    stopped: 'It was stopped; what it has done stays done.',
    lost: (done: number, total: number) =>
      `What became of it is not known: the server that did it was started again, or another one answers. ` +
      `At the last look ${done} of ${total} ${done === 1 ? 'was' : 'were'} done.`,
    ended: (changed: number) => `It is done: ${changed} ${changed === 1 ? 'was' : 'were'} changed.`,
  },
  zh: {
    all: '列出的全部',
    ask: (verb, count, of) => `${verb}：${count} 个${of === 'jobs' ? '作业' : '触发器'}`,
    first: '其中前几个：',
    none: '没有可操作的对象。',
    paused: (count) => `等待中的运行：${count}。其作业组、触发器组 DEFAULT 或全部已暂停；恢复后才会运行。`,
    progress: (done, total) => `已完成 ${done} / ${total}。`,
    failed: (count) => `${count} 个失败：`,
    stop: '停止',
    stopped: '已停止；已完成的部分不会撤销。',
    lost: (done, total) =>
      `结果未知：执行它的服务器已重启，或由另一台服务器响应。最后一次查看时已完成 ${done} / ${total}。`,
    ended: (changed) => `已完成：${changed} 个已更改。`,
  },
})

type Choice = Pick<BulkBody, 'of' | 'filter'>

/** `lost`: the server that answers knows nothing of it. */
interface Seen extends Omit<BulkJson, 'status'> {
  readonly status: BulkJson['status'] | 'lost'
}

const followed = signal<readonly Seen[]>([])
/** The id of the one whose dialog is open; each one is a chip of the top bar. */
const shown = signal<string | null>(null)
/** Whether the server may have begun one that is not known here. */
const isOneLost = signal(false)

const opener = '.menu summary'

/** Does something to everything that a list shows, also on its other pages; the server says how many they are. */
export function BulkMenu({ of, filter }: Choice): JSX.Element | null {
  const text = words()
  const { pause, resume, run, remove } = common()
  const isOpen = useSignal(false)
  const close = (): void => {
    isOpen.value = false
  }
  useDismissal(isOpen.value, { within: '.menu', opener, close })
  if (!may('bulk.begin')) return null
  const actions = [
    { action: 'pause', verb: pause },
    { action: 'resume', verb: resume },
    { action: 'run', verb: run },
    ...(may(of === 'jobs' ? 'jobs.delete' : 'triggers.delete')
      ? ([{ action: 'delete', verb: remove }] as const)
      : []),
  ] as const
  return (
    <details class="menu" open={isOpen.value}>
      <summary
        class="button plain"
        onClick={(event) => {
          event.preventDefault()
          isOpen.value = !isOpen.value
        }}
      >
        {text.all}
      </summary>
      <div class="menu-list">
        {actions.map(({ action, verb }) => (
          <Button
            key={action}
            text={verb}
            kind="quiet"
            onPress={() => {
              // It would stay over the list, and be there again after the dialog.
              close()
              // The button is not seen any more: a dialog that closes gives the focus to what had it.
              document.querySelector<HTMLElement>(opener)?.focus()
              return begin({ of, filter, action }, verb)
            }}
          />
        ))}
      </div>
    </details>
  )
}

type Chosen = Omit<BulkBody, 'expected' | 'digest'>

async function begin(choice: Chosen, verb: string): Promise<void> {
  const text = words()
  const isStillHere = pageOfNow()
  const { result } = await call('bulk.begin', {
    body: { ...choice, expected: null, digest: null },
    dryRun: true,
  })
  if (!isStillHere()) return
  if (result.count === 0) {
    say.done(text.none)
    return
  }
  const isSure = await confirm({
    title: text.ask(verb, result.count, choice.of),
    verb,
    isDanger: choice.action === 'delete',
    ...(choice.action === 'delete' && { typed: String(result.count) }),
    body: (
      <>
        <p>{text.first}</p>
        <ul class="bulk-first">
          {result.first.slice(0, 8).map((key) => (
            <li key={keyId(key)}>{keyText(key)}</li>
          ))}
        </ul>
        {result.paused > 0 && <p class="note warn">{text.paused(result.paused)}</p>}
      </>
    ),
  })
  if (!isSure) return
  const askedMs = nowMs()
  try {
    const body = { ...choice, expected: result.count, digest: result.digest }
    const { bulk } = (await call('bulk.begin', { body })).result
    if (bulk !== null) follow(bulk)
  } catch (error) {
    if (!mayBeDone(error)) throw error
    const lost = await lostOne(choice, askedMs).catch(() => undefined)
    if (lost !== undefined) {
      follow(lost)
      return
    }
    isOneLost.value = true
    throw error
  }
}

function follow(bulk: Seen): void {
  shown.value = bulk.id
  followed.value = [...followed.value.filter(({ id }) => id !== bulk.id), bulk]
}

/** How far the server's clock may be from what is known of it. */
const clockSlackMs = 5000

/** What the server has begun though its answer did not come; undefined when it says nothing of it. */
async function lostOne({ of, action }: Chosen, askedMs: number): Promise<BulkJson | undefined> {
  if (!may('bulk.list')) return undefined
  const { items } = await call('bulk.list')
  const own = session.value?.principal?.name
  const known = new Set(followed.value.map(({ id }) => id))
  return items.find(
    (bulk) =>
      bulk.of === of &&
      bulk.action === action &&
      bulk.by === own &&
      bulk.startedMs >= askedMs - clockSlackMs &&
      !known.has(bulk.id),
  )
}

/** Finds what the viewer began before the page was loaded, or without an answer. */
async function findOwn(): Promise<void> {
  if (!may('bulk.begin') || !may('bulk.list')) return
  const { items } = await call('bulk.list')
  const own = session.value?.principal?.name
  const known = new Set(followed.value.map(({ id }) => id))
  const found = items.filter(({ id, status, by }) => status === 'running' && by === own && !known.has(id))
  followed.value = [...found.reverse(), ...followed.value]
}

const askEveryMs = 500

/** How far bulk actions are; they go on in the server when this is closed. */
export function BulkProgress(): JSX.Element {
  useEffect(() => {
    // Those of another person are not for the one who signs in.
    followed.value = []
    unawaited(findOwn())
  }, [session.value?.principal?.name])
  useEffect(() => {
    if (liveStatus.value !== 'live' || !isOneLost.value) return
    isOneLost.value = false
    unawaited(findOwn())
  }, [liveStatus.value])
  return (
    <>
      {followed.value.map((bulk) => (
        <Followed key={bulk.id} bulk={bulk} />
      ))}
    </>
  )
}

function Followed({ bulk }: { readonly bulk: Seen }): JSX.Element | null {
  const failedTimes = useSignal(0)
  const isShown = shown.value === bulk.id
  useEffect(() => {
    if (bulk.status !== 'running') {
      ownChange()
      if (isShown) return undefined
      // The viewer did not see it end: the chip stays until they have.
      if (bulk.status === 'lost') say.problem(words().lost(bulk.done, bulk.total))
      else end(bulk.id)
      return undefined
    }
    const ask = async (): Promise<void> => {
      try {
        see(await call('bulk.get', { params: { id: bulk.id } }))
        failedTimes.value = 0
      } catch (error) {
        if (isGone(error)) see({ ...bulk, status: 'lost' })
        else failedTimes.value++
      }
    }
    return later(askEveryMs * 2 ** Math.min(5, failedTimes.value), () => {
      unawaited(ask())
    })
  }, [bulk, failedTimes.value])
  return isShown ? <Progress bulk={bulk} /> : null
}

function see(now: Seen): void {
  followed.value = followed.value.map((each) => (each.id === now.id ? now : each))
}

function end(id: string): void {
  if (shown.value === id) shown.value = null
  followed.value = followed.value.filter((bulk) => bulk.id !== id)
}

/** Open the dialogs again. One stays behind its dialog, which gives it the focus back. */
export function BulkChips(): JSX.Element {
  return (
    <>
      {followed.value.map(({ id, status, done, total }) => (
        <button
          key={id}
          type="button"
          class="chip is-on nowrap"
          title={words().progress(done, total)}
          onClick={() => {
            shown.value = id
          }}
        >
          {done} / {total}
          {status === 'lost' && ' ?'}
        </button>
      ))}
    </>
  )
}

function Progress({ bulk }: { readonly bulk: Seen }): JSX.Element {
  const text = words()
  const { close } = common()
  const { id, status, done, total, changed, paused, failed, failures } = bulk
  const hide = (): void => {
    if (status === 'running') shown.value = null
    else end(id)
  }
  return (
    <Dialog title={text.progress(done, total)} onClose={hide}>
      <div class="form">
        <progress value={done} max={Math.max(1, total)} aria-label={text.progress(done, total)} />
        {status === 'done' && <p role="status">{text.ended(changed)}</p>}
        {status === 'lost' && (
          <p class="note bad" role="alert">
            {text.lost(done, total)}
          </p>
        )}
        {status === 'stopped' && <p role="status">{text.stopped}</p>}
        {paused > 0 && <p class="note warn">{text.paused(paused)}</p>}
        {failed > 0 && (
          <div>
            <strong>{text.failed(failed)}</strong>
            <ul class="bulk-first">
              {failures.map(({ key, message }) => (
                <li key={keyId(key)}>
                  {keyText(key)}: {message}
                </li>
              ))}
            </ul>
          </div>
        )}
        <div class="dialog-actions">
          {status === 'running' && (
            <Button text={text.stop} icon="stop" onPress={() => call('bulk.stop', { params: { id } })} />
          )}
          <Button text={close} onPress={hide} />
        </div>
      </div>
    </Dialog>
  )
}
