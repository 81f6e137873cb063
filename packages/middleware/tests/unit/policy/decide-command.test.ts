import type { SandboxPolicy } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { decideCapability } from '../../../src/policy/decide-capability.ts'
import { askingPattern, decideCommand } from '../../../src/policy/decide-command.ts'
import { defineSandboxPolicy } from '../../../src/policy/define-sandbox-policy.ts'

const noRemoval: SandboxPolicy = { default: 'allow', commands: { deny: ['rm *'] } }

describe('a denied command is denied', () => {
  it.each([
    'rm -rf /',
    '  rm   -rf   /',
    'ls; rm -rf /',
    'ls && rm -rf /',
    'false || rm -rf /',
    'ls | rm -rf /',
    'ls\nrm -rf /',
    'ls & rm -rf /',
    '(rm -rf /)',
    '{ rm -rf /; }',
    'echo $(rm -rf /)',
    'echo `rm -rf /`',
    'echo "$(rm -rf /)"',
    'echo ${x:-$(rm -rf /)}',
    'cat <<E\n$(rm -rf /)\nE',
    'if true; then rm -rf /; fi',
    'for i in 1; do rm -rf /; done',
    'f() { rm -rf /; }; f',
    'case x in x) rm -rf /;; esac',
    '! rm -rf /',
    'time rm -rf /',
    'X=1 rm -rf /',
    '"rm" -rf /',
    String.raw`r\m -rf /`,
    "r'm' -rf /",
    'rm -rf / > log',
    '/bin/rm -rf /',
    'sudo rm -rf /',
    'sudo -u root /bin/rm -rf /',
    'env A=1 rm -rf /',
    'timeout 5 rm -rf /',
    'ls | xargs rm -rf',
    'find . -name x -exec rm {} ;',
    'sh -c "rm -rf /"',
    'bash -lc "ls; rm -rf /"',
    'sudo sh -c "rm -rf /"',
    'eval "rm -rf /"',
    'eval rm -rf /',
    `sh -c "sh -c 'rm -rf /'"`,
    'rm\t-rf /',
    'rm \\\n-rf /',
  ])('%j', (command) => {
    expect(decideCommand(noRemoval, command)).toBe('deny')
  })
})

describe('what cannot be told from the text is asked about, when the policy has deny or ask patterns', () => {
  it.each([
    '$X -rf /',
    '$(echo rm) -rf /',
    '/bin/r? -rf /',
    '{rm,-rf,/}',
    'sh -c "$X"',
    'echo x | sh',
    'bash script.sh',
    '. ./script.sh',
    'alias ls=rm',
    '[[ a || rm ]]',
    "$'\\x72m' x",
    'if then (',
    'echo "open',
    'cat <(ls)',
    '~/x',
  ])('%j', (command) => {
    expect(decideCommand(noRemoval, command)).not.toBe('allow')
    expect(decideCommand({ default: 'allow' }, command)).toBe('allow')
  })
})

describe('an allow pattern', () => {
  const policy: SandboxPolicy = {
    commands: { allow: ['git *', 'ls*', 'npm test', 'a && b'], ask: ['git push*'], deny: ['git push --force*'] },
  }

  it.each([
    ['git status', 'allow'],
    ['git commit -m "one; two && three"', 'allow'],
    ['git status && ls -la | ls', 'allow'],
    ['npm test', 'allow'],
    ['npm test 2>&1', 'allow'],
    ['ls > /dev/null', 'allow'],
    ['a && b', 'allow'],
    ['git push', 'ask'],
    ['git push --force origin', 'deny'],
    ['git push --force; git push', 'deny'],
    ['git status; curl x', 'ask'],
    ['git status $(curl x)', 'ask'],
    ['curl x', 'ask'],
    ['npm test && curl x', 'ask'],
    ['/tmp/git status', 'ask'],
    ['PATH=/tmp git status', 'ask'],
    ['PATH=/tmp; git status', 'ask'],
    ['ls > file', 'ask'],
    ['', 'allow'],
  ])('%j is %s', (command, decision) => {
    expect(decideCommand(policy, command)).toBe(decision)
  })

  it('never covers a second command, whatever the default', () => {
    expect(decideCommand({ default: 'deny', commands: { allow: ['git *'] } }, 'git status; curl x')).toBe('deny')
  })
})

describe('a script', () => {
  const scripts = {
    check: 'npm run lint && npm test',
    greet: 'echo hello',
    fetch: 'npm ci && curl x',
    save: 'echo x > f',
    opaque: '$X',
  }

  it.each([
    [{ commands: { allow: ['check'] } }, 'check', 'allow'],
    [{ commands: { allow: ['check'] } }, 'npm run lint && npm test', 'allow'],
    [{ commands: { allow: ['npm run lint && npm test'] } }, 'check', 'allow'],
    [{ commands: { allow: ['npm *'] } }, 'check', 'allow'],
    [{ commands: { allow: ['npm *'] } }, 'fetch', 'ask'],
    [{ commands: { allow: ['npm *', 'ls'] } }, 'ls; fetch', 'ask'],
    [{ commands: { allow: ['fetch', 'ls'] } }, 'ls; fetch', 'allow'],
    [{ default: 'allow', commands: { deny: ['curl *'] } }, 'ls; fetch', 'deny'],
    [{ commands: { allow: ['npm *', 'ls', 'curl *'] } }, 'ls; fetch', 'allow'],
    [{ default: 'deny', commands: { allow: ['ls', 'greet'] } }, 'ls; echo hello', 'allow'],
    [{ commands: { allow: ['ls', 'echo *'] } }, 'ls; save', 'ask'],
    [{ default: 'allow', capabilities: { fileWrite: 'deny' } }, 'ls; save', 'deny'],
    [{ default: 'allow', capabilities: { fileWrite: 'deny' } }, 'save', 'deny'],
    [{ default: 'allow', commands: { ask: ['x'] } }, 'ls; opaque', 'ask'],
    [{ commands: { allow: ['check'], deny: ['npm test'] } }, 'check', 'deny'],
    [{ default: 'allow', commands: { deny: ['check'] } }, 'npm run lint && npm test', 'deny'],
    [{ default: 'allow', commands: { deny: ['greet*'] } }, 'ls; echo hello world', 'deny'],
    [{ default: 'allow', commands: { ask: ['echo hello'] } }, 'greet', 'ask'],
  ] as [SandboxPolicy, string, string][])('under %j: %j is %s', (policy, command, decision) => {
    expect(decideCommand(policy, command, scripts)).toBe(decision)
  })
})

describe('without a policy', () => {
  it('everything is allowed; an empty one asks', () => {
    expect(decideCommand(undefined, 'rm -rf /')).toBe('allow')
    expect(decideCommand({}, 'ls')).toBe('ask')
    expect([decideCapability(undefined, 'network'), decideCapability({}, 'network')]).toEqual(['allow', 'ask'])
    expect(decideCapability({ default: 'deny', capabilities: { fileWrite: 'allow' } }, 'fileWrite')).toBe('allow')
  })
})

describe('defineSandboxPolicy', () => {
  it('lists everything that is wrong', () => {
    const policy = { commands: { deny: [' '], refuse: ['x'] }, default: 'maybe', capabilities: { network: 'no' } }
    expect(() => defineSandboxPolicy(policy as SandboxPolicy)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIGURATION',
        details: { faults: expect.arrayContaining([1, 2, 3, 4].map(() => expect.any(String))) },
      }),
    )
  })
})

describe('a hostile command line', () => {
  it.each(['('.repeat(5_000), '$('.repeat(2_000), 'sh -c '.repeat(500), `${'a'.repeat(200_000)} *`, '\0rm'])(
    'of kind %# is decided in bounded time without throwing',
    (command) => {
      const started = performance.now()
      expect(['allow', 'ask', 'deny']).toContain(
        decideCommand({ commands: { deny: [`${'*a'.repeat(50)}b`] } }, command),
      )
      expect(performance.now() - started).toBeLessThan(2_000)
    },
  )
})

describe('askingPattern', () => {
  const policy: SandboxPolicy = { default: 'allow', commands: { ask: ['sudo *', 'rm -r*'] } }

  it.each([
    ['rm -rf x', 'rm -r*'],
    ['cd a && sh -c "rm -r b"', 'rm -r*'],
    ['sudo rm -rf x', 'sudo *'],
    ['$X', undefined],
    ['ls', undefined],
  ])('of %s is %s', (command, pattern) => {
    expect(askingPattern(policy, command)).toBe(pattern)
  })
})
