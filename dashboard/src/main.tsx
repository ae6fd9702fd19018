import { render } from 'preact'
import { App } from './app.tsx'
import { decoded } from './state/place.ts'
import { applyPreferences } from './state/preferences.ts'
import { loadSession, session, signIn, watchSession } from './state/session.ts'
import { startTicking } from './time/clock.ts'
import './styles/main.css'

/** The address that the server prints has a token as its fragment, which is sent to no server and kept nowhere. */
function takeToken(): string | null {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token === undefined) return null
  history.replaceState(null, '', location.pathname + location.search)
  return decoded(token)
}

async function begin(): Promise<void> {
  const token = takeToken()
  await loadSession()
  // A token that is not good any more leads to the login, as no token does.
  if (token !== null && session.value?.credentials === 'token') await signIn({ token }).catch(() => undefined)
}

applyPreferences()
startTicking()
watchSession()
const root = document.getElementById('app')
if (root !== null) {
  let problem: unknown = null
  try {
    await begin()
  } catch (error) {
    problem = error
  }
  render(<App problem={problem} />, root)
}
