/** Names of the abilities that a provider declares. */
export type SandboxCapabilityName =
  | 'fs'
  | 'exec'
  | 'env'
  | 'ports'
  | 'backgroundProcesses'
  | 'writableStdin'
  | 'killableProcesses'
  | 'snapshots'
  | 'networkPolicy'
  | 'durableFilesystem'
  | 'fork'

/** Abilities that only Holdfast knows. Absent means false. */
export type ExtraCapabilityName = 'archive' | 'terminal' | 'access' | 'symlinks'

/**
 * The manifest of a provider. It is the only way to leave a conformance case out: a `false` needs its reason in
 * `unsupported`, and the suite fails when the reason is missing. `killableProcesses` is true only where `kill` was
 * measured to end the whole process tree.
 */
export type SandboxCapabilities = { readonly [name in SandboxCapabilityName]: boolean } & {
  readonly [name in ExtraCapabilityName]?: boolean
} & {
  /** Why an ability is false, in one sentence for a person. */
  readonly unsupported?: { readonly [name in SandboxCapabilityName | ExtraCapabilityName]?: string }
}
