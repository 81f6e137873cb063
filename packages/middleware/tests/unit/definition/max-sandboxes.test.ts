import { MemoryMetadataStore } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { sandboxFixture } from '../../fixtures/sandbox-fixture.ts'
import type { SandboxFixture } from '../../fixtures/sandbox-fixture.ts'

async function limited(maxSandboxes: number) {
  const fixture = await sandboxFixture()
  const metadata = new MemoryMetadataStore()
  const definition = defineSandbox({ id: 'limited', provider: fixture.provider, maxSandboxes })
  const of = (threadId: string, userId = 'ann'): SandboxFixture['context'] => ({
    ...fixture.context,
    metadata,
    threadId,
    tenant: { userId },
  })
  const ensure = (threadId: string, userId?: string) => definition.ensure(of(threadId, userId))
  return { fixture, definition, of, ensure }
}

describe('maxSandboxes', () => {
  it('must be a whole number', async () => {
    const { provider } = await sandboxFixture()
    for (const maxSandboxes of [0, -1, 1.5, Number.NaN]) {
      expect(() => defineSandbox({ id: 'x', provider, maxSandboxes })).toThrow(TypeError)
    }
  })

  it('refuses one more before anything is created, of this tenant alone, and leaves no row', async () => {
    const { fixture, ensure } = await limited(2)
    await ensure('one')
    await ensure('two')
    const creates = fixture.faults.calls('create')
    await expect(ensure('three')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', details: { max: 2 } })
    expect(fixture.faults.calls('create')).toBe(creates)
    expect(await fixture.store.rows()).toHaveLength(2)
    await ensure('three', 'bob')
    await ensure('one')
    expect(await fixture.existing()).toHaveLength(3)
  })

  it('lets the next one in when one is destroyed or could not be made', async () => {
    const { fixture, definition, of, ensure } = await limited(1)
    await ensure('one')
    await definition.destroy(of('one'))
    fixture.faults.add({ on: 'create', nth: 1, do: 'fail' })
    await expect(ensure('two')).rejects.not.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await ensure('three')
    await expect(ensure('two')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('counts a sandbox that could not be destroyed', async () => {
    const { fixture, definition, of, ensure } = await limited(1)
    await ensure('one')
    fixture.faults.add({ on: 'destroy', nth: 1, do: 'fail' })
    await expect(definition.destroy(of('one'))).rejects.toMatchObject({ code: 'SANDBOX_DESTROY_FAILED' })
    await expect(ensure('two')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('holds for sends at the same time', async () => {
    const { fixture, ensure } = await limited(2)
    const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f'].map((threadId) => ensure(threadId)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(await fixture.existing()).toHaveLength(2)
  })
})
