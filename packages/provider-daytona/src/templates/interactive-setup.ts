import type { SandboxAccessGrant } from '@holdfast/core'
import { InvalidInputError, NotFoundError } from '@holdfast/core/provider-kit'
import type { SandboxService } from '../lease/sandbox-service.ts'
import { newNonce, templateName } from '../naming.ts'
import { DaytonaAccess } from '../ports/daytona-access.ts'
import { deleteSnapshot, ensureSnapshotActive } from '../sandbox/snapshots.ts'
import { captureTemplate } from './capture-template.ts'

/** Where an interactive setup starts from. */
export interface SetupStartInput {
  /** A template to start from; the options' image or snapshot when left out. */
  template?: string
  labels?: Readonly<Record<string, string>>
  /** 1 minute to 24 hours. Default 60 minutes. */
  expiresInMs?: number
  signal?: AbortSignal
}

/** A sandbox that a person prepares, to become a template. */
export interface InteractiveSetup {
  readonly sandboxId: string
  /** `summary` may be shown and logged, `command` is for the person who sets up and nobody else. */
  readonly access: SandboxAccessGrant
}

/** Lets a person set up a sandbox by hand and keeps the result as a template. */
export class InteractiveSetups {
  readonly #service: SandboxService

  constructor(service: SandboxService) {
    this.#service = service
  }

  /** Makes a sandbox and opens it for SSH. When the access cannot be granted the sandbox goes again. */
  async start(input: SetupStartInput = {}): Promise<InteractiveSetup> {
    const { template, labels, signal, expiresInMs } = input
    if (template !== undefined && !(await ensureSnapshotActive(this.#service.account, template, signal))) {
      throw new NotFoundError('SANDBOX_NOT_FOUND', `No template has the name ${template}.`)
    }
    const live = await this.#service.openNew({ key: `setup-${newNonce()}`, labels, snapshot: template, signal })
    try {
      const access = await new DaytonaAccess(live).grant(expiresInMs === undefined ? {} : { expiresInMs })
      return { sandboxId: live.id, access }
    } catch (error) {
      await this.#service.destroy(live.id)
      throw error
    }
  }

  /** A new access to a setup that is going on; ends the one before. */
  async get(sandboxId: string, options: { expiresInMs?: number } = {}): Promise<InteractiveSetup> {
    const outcome = await this.#service.resume({ sandboxId })
    if (outcome.kind !== 'live') {
      throw new NotFoundError('SANDBOX_NOT_FOUND', `Setup sandbox ${sandboxId} does not exist.`)
    }
    return { sandboxId, access: await new DaytonaAccess(outcome.live).grant(options) }
  }

  /** Keeps what was set up under a name made of `a-z0-9._-`, and removes the sandbox. Answers the template's name. */
  async capture(sandboxId: string, name: string): Promise<string> {
    if (name.trim() === '') throw new InvalidInputError('INVALID_ARGUMENT', 'A template needs a name.')
    const template = await captureTemplate(this.#service, sandboxId, templateName(name))
    await this.#service.destroy(sandboxId)
    return template
  }

  /** Gives the setup up. Repeatable. */
  async cancel(sandboxId: string): Promise<void> {
    await this.#service.destroy(sandboxId)
  }

  /** Repeatable. */
  async deleteTemplate(template: string): Promise<void> {
    await deleteSnapshot(this.#service.account, template)
  }
}
