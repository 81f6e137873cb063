import { shellQuote } from '@holdfast/core/provider-kit'

/** Where the tools of a sandbox are, whatever a caller's PATH says. */
const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * A script as one line of harmless characters. The daemon feeds a command to a shell that may be zsh, bash or sh; this
 * form means the same to all of them, needs no here-document, and ends only its own subshell.
 */
export function shellLine(script: string): string {
  const packed = Buffer.from(`[ -z "\${ZSH_VERSION-}" ] || emulate -R sh\n${script}`, 'utf8').toString('base64')
  return `( hf_path=\${PATH-}; PATH="\${PATH-}:${TOOL_PATH}"; eval "$(printf %s '${packed}' | base64 -d)" )`
}

/** Shell text that prints a frame whose payload is the given shell word. */
export function printFrame(kind: string, word: string): string {
  return `printf '@%s %s %s\\n' "$n" ${kind} ${word}`
}

/** Shell text whose output is the given bytes. They stand in the script, never in an argument of a process. */
export function printBytes(bytes: Uint8Array): string {
  return `printf %s '${Buffer.from(bytes).toString('base64')}' | base64 -d`
}

/** Shell text that sets and exports the variables, hidden from a casual look at the script. */
export function exportVars(vars: Readonly<Record<string, string>>): string {
  const text = Object.entries(vars)
    .map(([name, value]) => `export ${name}=${shellQuote(value)}`)
    .join('\n')
  return text === '' ? ':' : `eval "$(${printBytes(Buffer.from(text, 'utf8'))})"`
}

/** Shell text that sets variables again that came with the request, after a login profile may have changed them. */
export function keepVars(names: readonly string[]): { save: string; restore: string } {
  const save = names.map((name, index) => (name === 'PATH' ? 'hf_v_PATH=$hf_path' : `hf_v_${index}=$${name}`))
  const restore = names.map((name, index) => `export ${name}="$hf_v_${name === 'PATH' ? 'PATH' : index}"`)
  return { save: save.join('; ') || ':', restore: restore.join('; ') || ':' }
}
