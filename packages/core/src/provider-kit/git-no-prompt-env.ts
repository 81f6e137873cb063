/** Makes git fail where it would ask a person. To be put under the caller's own variables, which win. */
export const GIT_NO_PROMPT_ENV: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=30',
  GCM_INTERACTIVE: 'never',
}
