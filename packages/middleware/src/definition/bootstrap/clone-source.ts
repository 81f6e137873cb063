import type { SandboxGitAuth, WorkspaceGitSource } from '@holdfast/core'
import { secretValue } from '../../secrets/create-secrets.ts'
import type { Secrets } from '../../secrets/create-secrets.ts'
import type { Step } from '../run-steps.ts'
import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import { workspaceRoot } from '../workspace-marker.ts'

/** Clones the repository into the workspace root. The token goes to the provider's git, never to a command line. */
export const cloneSource: Step<SandboxBuild> = {
  name: 'clone source',
  async run(build) {
    const { source, secrets, ...workspace } = build.definition.workspace
    if (source?.type !== 'git') return
    build.report('source', source.url)
    const { url, ref, depth } = source
    await build.handle.git.clone({
      url,
      dir: workspaceRoot(workspace),
      ...(ref !== undefined && { ref }),
      ...(depth !== undefined && { depth }),
      ...(source.auth !== undefined && { auth: resolveAuth(source.auth, secrets) }),
    })
  },
}

function resolveAuth(auth: NonNullable<WorkspaceGitSource['auth']>, secrets: Secrets | undefined): SandboxGitAuth {
  const { username, token } = auth
  return {
    token: typeof token === 'string' ? token : secretValue(secrets, token),
    ...(username !== undefined && { username }),
  }
}
