import { expect, test } from 'vitest'
import { isGitNetworkCommand } from '../../src/exec/git-limit.ts'

test.each([
  'git push',
  'git -C /some/dir -c a.b=c fetch origin',
  "git --git-dir='/a b' pull",
  'cd x && git clone https://example.com/a.git',
  'GIT_TRACE=1 /usr/bin/git ls-remote origin',
  'git --no-pager remote update',
  'git submodule update --init',
  "'git' '-c' 'credential.helper=' 'push'",
  'true; git pull --no-edit',
])('%s talks to a server', (command) => {
  expect(isGitNetworkCommand(command)).toBe(true)
})

test.each([
  'git status',
  'git commit -m "git push"',
  "echo 'git push'",
  'git -C push status',
  'git remote -v',
  'git submodule status',
  'gitk pull',
  'ls digit push',
])('%s does not', (command) => {
  expect(isGitNetworkCommand(command)).toBe(false)
})
