/** What happens to what a model wants to do. `ask` waits for a person. */
export type PolicyDecision = 'allow' | 'ask' | 'deny'

/**
 * What a model may do in a sandbox. Deny beats ask beats allow. Patterns are whole commands with `*` for any text. A
 * script's name and the command it stands for are the same thing.
 */
export interface SandboxPolicy {
  commands?: {
    allow?: readonly string[]
    ask?: readonly string[]
    deny?: readonly string[]
  }
  capabilities?: {
    fileWrite?: PolicyDecision
    network?: PolicyDecision
  }
  /** For what no pattern matches. Default `ask`. */
  default?: PolicyDecision
}
