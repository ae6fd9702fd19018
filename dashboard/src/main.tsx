import { render } from 'preact'
import { isRefused, isWrongCredential } from './api/problem.ts'
import { App } from './app.tsx'
import { watchUnsaved } from './parts/unsaved.ts'
import { decoded } from './state/place.ts'
import { applyPreferences } from './state/preferences.ts'
import { loadSession, refusedSignIn, session, signIn, watchSession } from './state/session.ts'
import { startTicking } from './time/clock.ts'
import './styles/main.css'

/** The address that the server prints has a token as its fragment, which is sent to no server and kept nowhere. */
function takeToken(): string | null {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token === undefined) return null
  history.replaceState(null, '', location.pathname + location.search)
  return decoded(token)
}

/** Loads the session. It is called again until the server has answered, and keeps the token so long. */
function beginner(): () => Promise<void> {
  let token = takeToken()
  return async () => {
    try {
      if (token !== null) await signIn({ token })
    } catch (error) {
      if (!isRefused(error)) throw error
      // A token that is not good any more leads to the login, as no token does. What else is refused, as behind a proxy
      // that changes the Host, would be refused there too, and the login says why.
      if (!isWrongCredential(error)) refusedSignIn.value = error
    }
    token = null
    if (session.value === null) await loadSession()
  }
}

applyPreferences()
startTicking()
watchSession()
watchUnsaved()
const root = document.getElementById('app')
if (root !== null) {
  const begin = beginner()
  let problem: unknown = null
  try {
    await begin()
  } catch (error) {
    problem = error
  }
  render(<App problem={problem} begin={begin} />, root)
}
