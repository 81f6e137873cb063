'use client'

import { useState } from 'react'
import type { FormEvent } from 'react'
import { messageOf } from '../../lib/client/api.ts'
import { saveCheckpoint } from '../../lib/client/checkpoints-api.ts'
import styles from './save-form.module.css'

const MAX_LABEL_CHARACTERS = 200

interface SaveFormProps {
  threadId: string
  isDisabled: boolean
  onSaved: () => Promise<void>
  onProblem: (problem: string | null) => void
}

/** Saves the workspace as it is, with a name if one is given. */
export function SaveForm({ threadId, isDisabled, onSaved, onProblem }: SaveFormProps) {
  const [label, setLabel] = useState('')
  const [isSaving, setSaving] = useState(false)
  const save = async (): Promise<void> => {
    setSaving(true)
    onProblem(null)
    try {
      await saveCheckpoint(threadId, label.trim())
      setLabel('')
      await onSaved()
    } catch (error) {
      onProblem(messageOf(error))
    } finally {
      setSaving(false)
    }
  }
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    void save()
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <input
        value={label}
        maxLength={MAX_LABEL_CHARACTERS}
        placeholder="Label (optional)"
        aria-label="Label of the checkpoint"
        onChange={(event) => setLabel(event.target.value)}
      />
      <button type="submit" disabled={isDisabled || isSaving}>
        {isSaving ? 'Saving…' : 'Save'}
      </button>
    </form>
  )
}
