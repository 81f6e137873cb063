import { InvalidInputError } from '@holdfast/core'
import type { CheckpointPolicy } from '@holdfast/core'
import picomatch from 'picomatch'
import { PRIVATE_DIR } from '../../definition/workspace-marker.ts'

/** What no checkpoint should carry unless somebody asks for it: history, what can be installed again, credentials. */
export const DEFAULT_EXCLUDE: readonly string[] = ['.git', 'node_modules', '.env*']

/** A name or a path that `find` reads as the matcher below does. */
const PLAIN_NAME = /^[\w.+@%=,*?-]+$/
const PLAIN_PATH = /^[\w.+@%=,/-]+$/

type Match = (path: string) => boolean

/**
 * Which paths a checkpoint covers. A pattern without a slash is a name at any depth, one with a slash starts at the
 * workspace root; what matches a directory holds for all beneath it. Exclude beats include. Our own directory is never
 * covered.
 */
export class PathPolicy {
  /** As it is kept with a checkpoint: with the defaults that it was applied with. */
  readonly stored: Required<Pick<CheckpointPolicy, 'exclude' | 'onSecret'>> & CheckpointPolicy
  readonly #isExcluded: Match
  readonly #isIncluded: Match
  readonly #known = new Map<string, { excluded: boolean; included: boolean }>()

  /** `INVALID_CONFIGURATION` for a malformed pattern. */
  constructor(policy: CheckpointPolicy = {}) {
    const { include, exclude = DEFAULT_EXCLUDE, onSecret = 'redact' } = policy
    for (const pattern of [...exclude, ...(include ?? [])]) assertPattern(pattern)
    if (!['redact', 'exclude', 'refuse'].includes(onSecret))
      throw invalid('onSecret must be redact, exclude or refuse.')
    this.stored = { exclude: [...exclude], onSecret, ...(include === undefined ? {} : { include: [...include] }) }
    this.#isExcluded = anyOf(exclude)
    this.#isIncluded = include === undefined ? () => true : anyOf(include)
  }

  covers(path: string): boolean {
    const { excluded, included } = this.#lookUp(path)
    return included && !excluded
  }

  isExcluded(path: string): boolean {
    return this.#lookUp(path).excluded
  }

  /** `find` tests for what need not be walked. The host checks every path all the same. */
  pruneTests(): string {
    const tests = [`-path './${PRIVATE_DIR}'`]
    for (const pattern of this.stored.exclude.map(normalized)) {
      if (PLAIN_NAME.test(pattern)) tests.push(`-name '${pattern}'`)
      else if (PLAIN_PATH.test(pattern)) tests.push(`-path './${pattern}'`)
    }
    return tests.join(' -o ')
  }

  #lookUp(path: string): { excluded: boolean; included: boolean } {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const slash = path.lastIndexOf('/')
    const parent = slash < 0 ? { excluded: path === PRIVATE_DIR, included: false } : this.#lookUp(path.slice(0, slash))
    const found = {
      excluded: parent.excluded || this.#isExcluded(path),
      included: parent.included || this.#isIncluded(path),
    }
    this.#known.set(path, found)
    return found
  }
}

function anyOf(patterns: readonly string[]): Match {
  const matches = patterns.map(matcherOf)
  return (path) => matches.some((match) => match(path))
}

function matcherOf(pattern: string): Match {
  const plain = normalized(pattern)
  const match = picomatch(plain, { dot: true, nonegate: true })
  if (plain.includes('/')) return match
  return (path) => match(path.slice(path.lastIndexOf('/') + 1))
}

/** A directory's pattern is the same with and without what lies beneath it. */
function normalized(pattern: string): string {
  const path = pattern.replace(/(?:\/\*\*)+\/?$/, '').replace(/\/+$/, '')
  const start = path.replace(/^(?:\.?\/)+/, '')
  return start.replace(/^(?:\*\*\/)+(?=[^/]+$)/, '')
}

function assertPattern(pattern: unknown): void {
  const isUsable = typeof pattern === 'string' && !pattern.startsWith('!') && !pattern.includes('\0')
  if (isUsable && normalized(pattern) !== '') return
  throw invalid(`${JSON.stringify(pattern)} is not a usable path pattern; patterns cannot be negated.`)
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', `Checkpoint policy: ${message}`)
}
