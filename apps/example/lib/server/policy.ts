import { defineSandboxPolicy } from '@holdfast/middleware'

/** A person is asked before these run; all else runs. The sandbox, not this list, is what confines a model. */
export const policy = defineSandboxPolicy({
  default: 'allow',
  commands: { ask: ['rm -r*', 'rm -f*', 'sudo *', 'git push*'] },
})
