import { InvalidInputError } from '../../errors/error-classes.ts'
import type { SandboxGitAuth } from '../sandbox-git.ts'

/** What hosted git services take when a token comes without a user name. */
const DEFAULT_USERNAME = 'x-access-token'

interface GitCredential {
  origin: string
  username: string
  token: string
}

/**
 * Tokens of one handle, by the origin they were given for. Git gets them from its environment through a credential
 * helper, for that origin only, so that none reaches a command line, a configuration file or another host.
 */
export class GitCredentials {
  readonly #byOrigin = new Map<string, GitCredential>()

  /** Takes the token for `url` and answers the URL without credentials. */
  register(url: string, auth: SandboxGitAuth | undefined): string {
    const parsed = httpUrl(url)
    if (parsed === undefined) {
      if (auth === undefined) return url
      throw new InvalidInputError('INVALID_ARGUMENT', 'A git token can be used with an http(s) URL only.')
    }
    const username = auth?.username ?? (decodeURIComponent(parsed.username) || DEFAULT_USERNAME)
    const token = auth?.token ?? decodeURIComponent(parsed.password)
    if (`${username}${token}`.match(/[\0\r\n]/)) {
      throw new InvalidInputError('INVALID_ARGUMENT', 'A git token must not hold line breaks or NUL characters.')
    }
    if (token === '') return url
    this.#byOrigin.set(parsed.origin, { origin: parsed.origin, username, token })
    parsed.username = ''
    parsed.password = ''
    return parsed.href
  }

  /** Options that go between `git` and its sub-command. */
  options(): string[] {
    return [...this.#byOrigin.values()].flatMap(({ origin }, index) => [
      '-c',
      // An empty helper first: helpers of the machine are not asked, nor told the token to store it.
      `credential.${origin}.helper=`,
      '-c',
      `credential.${origin}.helper=${helperScript(index)}`,
    ])
  }

  /** Variables that the helpers read. */
  env(): Record<string, string> {
    const vars = [...this.#byOrigin.values()].flatMap(({ username, token }, index) => [
      [`HOLDFAST_GIT_USERNAME_${index}`, username],
      [`HOLDFAST_GIT_TOKEN_${index}`, token],
    ])
    return Object.fromEntries(vars) as Record<string, string>
  }

  secrets(): string[] {
    return [...this.#byOrigin.values()].flatMap(({ token }) => [token, encodeURIComponent(token)])
  }
}

function helperScript(index: number): string {
  const answer = String.raw`printf 'username=%s\npassword=%s\n'`
  return `!f() { test "$1" = get && ${answer} "$HOLDFAST_GIT_USERNAME_${index}" "$HOLDFAST_GIT_TOKEN_${index}"; }; f`
}

function httpUrl(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:' ? parsed : undefined
}
