import { expect, test } from 'vitest'
import fc from 'fast-check'
import { isInsideWorkspace, resolveWorkspacePath, workspaceRelativePath } from '../../../src/provider-kit/index.ts'

const ROOT = '/srv/boxes/one'

test.each([
  '',
  'a\0b',
  'a\ud800',
  '..',
  '../one-more',
  '/etc/passwd',
  '/workspace/../etc',
  'a/../../b',
  '/workspaces',
  '/srv/boxes/one2',
  '/',
])('the path %j is refused', (path) => {
  expect(() => resolveWorkspacePath(ROOT, path)).toThrow(expect.objectContaining({ code: 'INVALID_PATH' }))
})

test.each([
  ['/workspace', ROOT],
  ['/workspace/', ROOT],
  ['.', ROOT],
  ['./', ROOT],
  ['a', `${ROOT}/a`],
  ['a/./b//c/', `${ROOT}/a/b/c`],
  ['a/../b', `${ROOT}/b`],
  ['/workspace/a', `${ROOT}/a`],
  [`${ROOT}/a`, `${ROOT}/a`],
  [' a ', `${ROOT}/ a `],
  ['-rf', `${ROOT}/-rf`],
  ['a.', `${ROOT}/a.`],
  ['é', `${ROOT}/é`],
  ['e\u0301', `${ROOT}/e\u0301`],
  ['a\nb', `${ROOT}/a\nb`],
  ['a\\b', `${ROOT}/a\\b`],
  ['__proto__', `${ROOT}/__proto__`],
  ['..a', `${ROOT}/..a`],
])('the path %j is %j', (path, real) => {
  expect(resolveWorkspacePath(ROOT, path)).toBe(real)
})

test('a real root below /workspace keeps its own paths', () => {
  expect(resolveWorkspacePath('/workspace/repo', '/workspace/repo/a')).toBe('/workspace/repo/a')
  expect(resolveWorkspacePath('/workspace/repo', '/workspace/a')).toBe('/workspace/repo/a')
  expect(resolveWorkspacePath('/workspace', '/workspace/a')).toBe('/workspace/a')
})

test('a relative name leads back to the same path', () => {
  expect(workspaceRelativePath(ROOT, '/workspace')).toBe('.')
  expect(workspaceRelativePath(ROOT, '/workspace/a/b')).toBe('a/b')
  expect(workspaceRelativePath('/', '/a')).toBe('a')
})

test('whatever the path, the answer lies inside the workspace', () => {
  const part = fc.oneof(
    fc.constantFrom('..', '.', '', 'workspace', 'srv', 'boxes', 'one', 'a'),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      let real: string
      try {
        real = resolveWorkspacePath(ROOT, parts.join('/'))
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_PATH' })
        return
      }
      expect(isInsideWorkspace(ROOT, real)).toBe(true)
      expect(real.split('/')).not.toContain('..')
    }),
  )
})
