import { describe, expect, it } from 'vitest'
import { runSteps, suppressedErrors } from '../../../src/definition/run-steps.ts'
import type { Step } from '../../../src/definition/run-steps.ts'

function logged(log: string[], name: string, options: { fails?: boolean; undoFails?: boolean } = {}): Step<null> {
  return {
    name,
    run() {
      log.push(`do ${name}`)
      if (options.fails === true) throw new Error(`${name} failed`)
      return () => {
        log.push(`undo ${name}`)
        if (options.undoFails === true) throw new Error(`undo ${name} failed`)
      }
    },
  }
}

describe('runSteps', () => {
  it('undoes the finished steps newest first, and rejects with the first error whatever the undos do', async () => {
    const log: string[] = []
    const steps = [
      logged(log, 'a'),
      logged(log, 'b', { undoFails: true }),
      logged(log, 'c', { fails: true }),
      logged(log, 'd'),
    ]
    const undoFailures: string[] = []
    const error: unknown = await runSteps(steps, null, { onUndoError: (name) => undoFailures.push(name) }).catch(
      (e) => e,
    )
    expect(error).toMatchObject({ message: 'c failed' })
    expect(log).toEqual(['do a', 'do b', 'do c', 'undo b', 'undo a'])
    expect(suppressedErrors(error)).toMatchObject([{ message: 'undo b failed' }])
    expect(undoFailures).toEqual(['b'])
  })

  it('stops before the next step when the signal aborts, but not after the last', async () => {
    const log: string[] = []
    const controller = new AbortController()
    const abort: Step<null> = { name: 'abort', run: () => controller.abort(new Error('stop')) }
    await expect(
      runSteps([logged(log, 'a'), abort, logged(log, 'b')], null, { signal: controller.signal }),
    ).rejects.toThrow('stop')
    expect(log).toEqual(['do a', 'undo a'])
    const later = new AbortController()
    await runSteps([{ name: 'last', run: () => later.abort() }], null, { signal: later.signal })
  })

  it('gives one function that undoes everything once', async () => {
    const log: string[] = []
    const undo = await runSteps([logged(log, 'a'), logged(log, 'b', { undoFails: true })], null)
    expect(await undo()).toMatchObject([{ message: 'undo b failed' }])
    expect(await undo()).toEqual([])
    expect(log.slice(2)).toEqual(['undo b', 'undo a'])
  })
})
