import assert from 'node:assert/strict'

const THREAD = 'bundled'
const TICKS = [1, 2, 3, 4, 5]
const TICK_MS = 200

/**
 * A page with its scripts, a command whose output streams, and files that go into the sandbox and come out of it.
 *
 * @param {string} url of the running example
 * @param {'process' | 'daytona'} provider
 */
export async function useExample(url, provider) {
  /** @type {any} */
  const health = await (await fetch(`${url}/api/health`)).json()
  assert.equal(health.ok, true, JSON.stringify(health))
  assert.deepEqual([health.store.name, health.provider.name], ['pglite', provider])
  await loadPage(url)
  await streamOutput(url)
  await moveFiles(url)
}

async function loadPage(/** @type {string} */ url) {
  const html = await (await fetch(`${url}/t/${THREAD}`)).text()
  const scripts = [...html.matchAll(/<script[^>]+src="(\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(scripts.length > 0, html)
  for (const path of scripts) assert.equal((await fetch(url + path)).status, 200, path)
}

async function streamOutput(/** @type {string} */ url) {
  const command = `for i in ${TICKS.join(' ')}; do echo tick $i; sleep ${TICK_MS / 1000}; done`
  const output = await run(url, 'streamed', command)
  assert.equal(output.map(({ text }) => text).join(''), TICKS.map((tick) => `tick ${tick}\n`).join(''))
  const span = (output.at(-1)?.at ?? 0) - (output[0]?.at ?? 0)
  assert.ok(output.length > 2 && span > TICK_MS * 2, `the output came in ${output.length} pieces within ${span} ms`)
}

/** A rewind puts the earlier file back into the sandbox; what the sandbox then has is read from there. */
async function moveFiles(/** @type {string} */ url) {
  const text = `${'a line of the first file, é\n'.repeat(5_000)}`
  await run(url, 'first-file', `yes 'a line of the first file, é' | head -n 5000 > file.txt`)
  assert.equal(await download(url), text)
  const at = `${url}/api/threads/${THREAD}/checkpoints`
  const { headId } = /** @type {{ headId: string }} */ (await (await fetch(at)).json())
  await run(url, 'second-file', 'echo changed > file.txt')
  assert.equal(await download(url), 'changed\n')
  const rewound = await fetch(`${at}/${headId}/rewind`, { method: 'POST' })
  assert.equal(rewound.ok, true, `rewind: ${rewound.status} ${await rewound.text()}`)
  assert.equal(await download(url), text)
}

async function download(/** @type {string} */ url) {
  const response = await fetch(`${url}/api/threads/${THREAD}/files/content?path=file.txt`)
  assert.equal(response.status, 200)
  return response.text()
}

/**
 * Has the demo model run a command.
 *
 * @returns {Promise<{ at: number, text: string }[]>} what it printed, and when that arrived
 */
async function run(/** @type {string} */ url, /** @type {string} */ runId, /** @type {string} */ command) {
  const messages = [{ id: `${runId}-message`, role: 'user', content: `$ ${command}` }]
  const body = { threadId: THREAD, runId, messages, tools: [], context: [], state: {}, forwardedProps: {} }
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip, br' },
    body: JSON.stringify(body),
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('cache-control') ?? '', /no-transform/)
  const output = []
  let last
  for await (const chunk of chunksOf(response)) {
    last = chunk
    if (chunk.name === 'process.stdout') output.push({ at: performance.now(), text: String(chunk.value.chunk) })
  }
  assert.equal(last?.type, 'RUN_FINISHED', JSON.stringify(last))
  return output
}

/** @returns {AsyncGenerator<any>} */
async function* chunksOf(/** @type {Response} */ response) {
  const decoder = new TextDecoder()
  let waiting = ''
  for await (const bytes of response.body ?? []) {
    waiting += decoder.decode(bytes, { stream: true })
    const blocks = waiting.split('\n\n')
    waiting = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) yield JSON.parse(data)
    }
  }
}
