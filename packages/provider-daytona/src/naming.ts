import { createHash, randomBytes } from 'node:crypto'

/**
 * Labels of ours, named apart from those of any caller. Callers never see them, and they decide nothing about whether a
 * caller's labels match.
 */
const OWN_LABELS = {
  key: 'holdfast.daytona.key',
  sentinel: 'holdfast.daytona.sentinel',
  madeBy: 'holdfast.daytona.made-by',
} as const
/** Added by the vendor's client to every sandbox. */
const VENDOR_LABELS = ['code-toolbox-language']
const MADE_BY = 'provider-daytona'

type Labels = Readonly<Record<string, string>>

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Unique, and safe in a path, a URL and a shell word. */
export function newNonce(): string {
  return randomBytes(12).toString('hex')
}

/** Tells accounts apart without holding the key. */
export function accountFingerprint(options: { apiKey: string; apiUrl: string; target: string | undefined }): string {
  return sha256(JSON.stringify([options.apiUrl, options.apiKey, options.target ?? ''])).slice(0, 24)
}

/** The sandbox's name at the service: the same key always gives the same one, so that a lost reply can be found. */
export function sandboxName(key: string): string {
  return `holdfast-${sha256(key).slice(0, 40)}`
}

/** A caller's labels with ours. */
export function serviceLabels(key: string, sentinel: string, labels: Labels): Record<string, string> {
  return {
    ...labels,
    [OWN_LABELS.madeBy]: MADE_BY,
    [OWN_LABELS.key]: sha256(key),
    [OWN_LABELS.sentinel]: sentinel,
  }
}

/** The labels that a caller gave, out of what the service holds. */
export function callerLabels(labels: Labels | undefined): Record<string, string> {
  const hidden: readonly string[] = [...Object.values(OWN_LABELS), ...VENDOR_LABELS]
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => !hidden.includes(name)))
}

export function sentinelLabel(labels: Labels | undefined): string | undefined {
  return labels?.[OWN_LABELS.sentinel]
}

/** Whether a sandbox was made by this package for this key and for a caller with exactly these labels. */
export function isOwnedBy(key: string, labels: Labels, held: Labels | undefined): boolean {
  if (held?.[OWN_LABELS.madeBy] !== MADE_BY || held[OWN_LABELS.key] !== sha256(key)) return false
  return canonical(callerLabels(held)) === canonical(labels)
}

function canonical(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A template's or snapshot's name as the service takes it: `a-z0-9._-`, at most 96 characters. */
export function templateName(name: string): string {
  const clean = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 96)
  return clean === '' ? 'template' : clean
}
