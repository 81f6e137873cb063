import { memoryProvider } from '@holdfast/testing'
import type { SandboxProvider } from '@holdfast/core'
import { describe, expect, it, vi } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { SandboxDefinition } from '../../../src/definition/sandbox-definition.ts'
import type { SandboxLifecycleOptions } from '../../../src/definition/sandbox-lifecycle.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { chatFixture, chatRequest, startChat } from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import type { ModelAction } from '../../fixtures/scripted-model.ts'

const write: ModelAction = { call: 'write_file', args: { path: 'made', content: 'by run-1' } }
const read: ModelAction = { call: 'read_file', args: { path: 'made' } }

function sandboxOf(lifecycle: SandboxLifecycleOptions): SandboxDefinition {
  return defineSandbox({ id: 'test', provider: memoryProvider(), policy: { default: 'allow' }, lifecycle })
}

async function runOne(
  fixture: ChatFixture,
  sandbox: SandboxDefinition,
  runId: string,
  turns: ModelAction[][],
): Promise<void> {
  const { run, stream } = await startChat(fixture, {
    turns,
    request: chatRequest(runId, runId),
    tools: sandboxTools(),
    middleware: (of) => [withSandbox(sandbox, { run: of })],
  })
  await run.drive(stream)
}

describe('a vendor snapshot after a run', () => {
  it('gives the next run its files when the sandbox was lost in between', async () => {
    const fixture = chatFixture()
    const sandbox = sandboxOf({ snapshot: 'after-run' })
    await runOne(fixture, sandbox, 'run-1', [[write], [{ say: 'ok' }]])
    const [row] = (await fixture.stores.instances.list?.({}))?.records ?? []
    expect(row?.latestSnapshotId).toEqual(expect.any(String))
    await sandbox.provider.destroy({ id: row?.providerSandboxId ?? '' })
    await runOne(fixture, sandbox, 'run-2', [[read], [{ say: 'ok' }]])
    const results = (await fixture.stores.messages.loadThread('thread-1')).filter(({ role }) => role === 'tool')
    expect(results.at(-1)?.content).toContain('by run-1')
  })

  it('that fails is warned of without the secrets of the workspace', async () => {
    const secret = 'sk-live-4f9a8b7c6d5e'
    const provider = memoryProvider()
    const broken: SandboxProvider = {
      ...provider,
      async create(input) {
        const handle = await provider.create(input)
        return { ...handle, snapshot: () => Promise.reject(new Error(`no image for ${secret}`)) }
      },
    }
    const workspace = defineWorkspace({ secrets: createSecrets({ TOKEN: secret }) })
    const lifecycle = { snapshot: 'after-run' } as const
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const sandbox = defineSandbox({ id: 'test', provider: broken, workspace, lifecycle, policy: { default: 'allow' } })
    await runOne(chatFixture(), sandbox, 'run-1', [[{ say: 'ok' }]])
    const shown = warn.mock.calls.filter(([what]) => String(what).startsWith('No vendor snapshot'))
    expect(shown).toHaveLength(1)
    expect(JSON.stringify(shown)).toContain('no image for')
    expect(JSON.stringify(shown)).not.toContain(secret)
  })

  it('is not taken of a run that failed, or of a sandbox that goes with its run', async () => {
    for (const [lifecycle, last] of [
      [{ snapshot: 'after-run' }, { fail: new Error('no') }],
      [{ snapshot: 'after-run', destroyOnComplete: true }, { say: 'ok' }],
      [{ snapshot: 'none' }, { say: 'ok' }],
    ] as const) {
      const fixture = chatFixture()
      await runOne(fixture, sandboxOf(lifecycle), 'run-1', [[write], [last]])
      const rows = (await fixture.stores.instances.list?.({}))?.records ?? []
      expect(rows.map(({ latestSnapshotId }) => latestSnapshotId)).toEqual(rows.map(() => undefined))
    }
  })
})
