import { describe, expect, test } from 'vitest'
import { RunOutputs } from '../../src/exec/run-outputs.ts'
import { FrameReader } from '../../src/script/frames.ts'
import { OutputAfterMark } from '../../src/terminal/output-after-mark.ts'

describe('FrameReader', () => {
  const text = 'noise\n@n o YQ==\nprefix@n e Yg==\n@other o xx\n@n x 0\n'

  test('finds frames wherever the text is cut', () => {
    const whole = FrameReader.readAll('n', text)
    expect(whole.map(({ kind }) => kind)).toEqual(['o', 'e', 'x'])
    for (let cut = 0; cut <= text.length; cut += 1) {
      const reader = new FrameReader('n')
      expect([...reader.push(text.slice(0, cut)), ...reader.push(text.slice(cut))]).toEqual(whole)
    }
  })
})

describe('RunOutputs', () => {
  test('delivers each byte once however often it is sent', () => {
    const got: string[] = []
    const outputs = new RunOutputs((name, bytes) => got.push(`${name}:${Buffer.from(bytes).toString()}`))
    const first = outputs.reader({ stdout: 0, stderr: 0 })
    first('stdout', Buffer.from('abc'))
    first('stderr', Buffer.from('x'))
    const replay = outputs.reader({ stdout: 0, stderr: 0 })
    replay('stdout', Buffer.from('ab'))
    replay('stdout', Buffer.from('cde'))
    replay('stderr', Buffer.from('xy'))
    expect(got).toEqual(['stdout:abc', 'stderr:x', 'stdout:de', 'stderr:y'])
    expect(outputs.offsets).toEqual({ stdout: 5, stderr: 2 })
  })

  test('a gap is an error, never a silent loss', () => {
    const outputs = new RunOutputs(() => undefined)
    expect(() => outputs.reader({ stdout: 4, stderr: 0 })('stdout', Buffer.from('late'))).toThrow(/missing/)
  })
})

describe('OutputAfterMark', () => {
  test('lets through what follows the mark, wherever it is cut', () => {
    const bytes = Buffer.from('prompt$ \x1emark\x1eafter')
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const filter = new OutputAfterMark('mark')
      const out = Buffer.concat([filter.push(bytes.subarray(0, cut)), filter.push(bytes.subarray(cut))])
      expect(out.toString()).toBe('after')
    }
  })
})
