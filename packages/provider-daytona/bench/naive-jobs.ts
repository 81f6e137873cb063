import type { Sandbox } from '@daytonaio/sdk'

/** The same jobs as somebody writes them who knows the SDK and not the service. */
export const naiveJobs = {
  'short exec': async (sandbox: Sandbox): Promise<void> => {
    // Outputs apart need a session, since one command's answer has both in one.
    await sandbox.process.createSession('short')
    const { exitCode } = await sandbox.process.executeSessionCommand('short', { command: '( echo out; echo err >&2 )' })
    if (exitCode !== 0) throw new Error('failed')
    await sandbox.process.deleteSession('short')
  },
  'streamed exec': (sandbox: Sandbox) =>
    streamed(sandbox, 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done'),
  '1,000 lines': (sandbox: Sandbox) => streamed(sandbox, 'seq 1 1000'),
  '100-file sync': async (sandbox: Sandbox): Promise<void> => {
    for (let i = 0; i < 100; i += 1) await sandbox.fs.uploadFile(Buffer.from(`bytes ${i}`), `naive/f${i}`)
    for (let i = 0; i < 100; i += 1) await sandbox.fs.downloadFile(`naive/f${i}`)
  },
} as const

async function streamed(sandbox: Sandbox, command: string): Promise<void> {
  const session = `s${Math.random().toString(36).slice(2)}`
  await sandbox.process.createSession(session)
  const { cmdId } = await sandbox.process.executeSessionCommand(session, { command, runAsync: true })
  for (;;) {
    await sandbox.process.getSessionCommandLogs(session, cmdId)
    const { exitCode } = await sandbox.process.getSessionCommand(session, cmdId)
    if (exitCode !== undefined) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await sandbox.process.deleteSession(session)
}
