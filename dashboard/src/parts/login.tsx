import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ownChange } from '../api/live.ts'
import { isWrongCredential } from '../api/problem.ts'
import { hasEnded, loadSession, refusedSignIn, session, signIn } from '../state/session.ts'
import { unawaited } from '../state/toasts.ts'
import { later } from '../time/clock.ts'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { problemText } from '../words/problem-text.ts'
import { Button } from './button.tsx'
import { giveFocus } from './dialog.tsx'
import { Field } from './field.tsx'
import { Icon } from './icon.tsx'

const words = dictionary({
  en: {
    title: 'Sign in',
    ended: 'Your session has ended. Sign in to go on where you were.',
    token: 'Token',
    tokenHint: 'The server prints it once, when it is first started: it stands at the end of the address.',
    name: 'Name',
    password: 'Password',
    submit: 'Sign in',
    wrong: 'That is not right.',
    host: 'This server has not said who you are. Sign in where it is mounted.',
  },
  zh: {
    title: '登录',
    ended: '会话已结束。登录后可继续之前的操作。',
    token: '令牌',
    tokenHint: '服务器在首次启动时打印一次：位于地址的末尾。',
    name: '用户名',
    password: '密码',
    submit: '登录',
    wrong: '不正确。',
    host: '服务器未识别您的身份。请在其宿主应用中登录。',
  },
})

export function LoginPage(): JSX.Element {
  return (
    <main class="login">
      <LoginBox />
    </main>
  )
}

/** Covers pages and dialogs, which keep what was typed into them. */
export function LoginDialog(): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  const show = (): void => {
    if (hasEnded.value) element.current?.showModal()
  }
  useEffect(() => {
    const before = document.activeElement
    const dialog = element.current
    show()
    return () => {
      dialog?.close()
      giveFocus([before, document.querySelector('main')])
    }
  }, [])
  return (
    <dialog ref={element} class="login" aria-label={words().title} onClose={show}>
      <LoginBox />
    </dialog>
  )
}

const askEveryMs = 5000

/** Signing in elsewhere, where the server is mounted or in another tab, is noticed. */
function useSignInElsewhere(): () => Promise<void> {
  const ask = async (): Promise<void> => {
    await loadSession()
    if (session.value?.principal !== null && !hasEnded.value) ownChange()
  }
  useEffect(() => {
    const look = (): void => {
      // A server that does not answer is asked again.
      if (!document.hidden) ask().catch(() => undefined)
    }
    let stop = (): void => undefined
    const poll = (): void => {
      stop = later(askEveryMs, () => {
        look()
        poll()
      })
    }
    poll()
    window.addEventListener('focus', look)
    document.addEventListener('visibilitychange', look)
    return () => {
      stop()
      window.removeEventListener('focus', look)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return ask
}

function LoginBox(): JSX.Element {
  const { title, ended, host } = words()
  const ask = useSignInElsewhere()
  const credentials = session.value?.credentials ?? null
  return (
    <div class="login-box">
      <h1>
        <span class="brand-mark">
          <Icon name="cron" />
        </span>
        quartz-ts
      </h1>
      <h2>{title}</h2>
      {hasEnded.value && <p class="note info">{ended}</p>}
      {credentials === null ? (
        <>
          <p class="note info">{host}</p>
          <Button text={common().retry} kind="primary" onPress={ask} />
        </>
      ) : (
        <LoginForm asks={credentials} />
      )}
    </div>
  )
}

function LoginForm({ asks }: { readonly asks: 'token' | 'password' }): JSX.Element {
  const { token, tokenHint, name, password, submit, wrong } = words()
  const problem = refusedSignIn.value
  const isBusy = useSignal(false)
  const send = async (form: HTMLFormElement): Promise<void> => {
    const text = (field: string): string => {
      const value = new FormData(form).get(field)
      return typeof value === 'string' ? value : ''
    }
    isBusy.value = true
    refusedSignIn.value = null
    try {
      await signIn(
        asks === 'token'
          ? { token: text('token').trim() }
          : { name: text('name'), password: text('password') },
      )
      ownChange()
    } catch (error) {
      refusedSignIn.value = error
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        unawaited(send(event.currentTarget))
      }}
    >
      {asks === 'token' ? (
        <Field label={token} hint={tokenHint}>
          {(ids) => <input {...ids} name="token" type="password" required autocomplete="current-password" />}
        </Field>
      ) : (
        <>
          <Field label={name}>
            {(ids) => <input {...ids} name="name" required autocomplete="username" />}
          </Field>
          <Field label={password}>
            {(ids) => (
              <input {...ids} name="password" type="password" required autocomplete="current-password" />
            )}
          </Field>
        </>
      )}
      {problem !== null && (
        <p class="note bad" role="alert">
          {isWrongCredential(problem) ? wrong : problemText(problem)}
        </p>
      )}
      <button type="submit" class="button primary" disabled={isBusy.value}>
        {submit}
      </button>
    </form>
  )
}
