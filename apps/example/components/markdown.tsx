'use client'

import { lazy, Suspense } from 'react'
import type formattedText from './formatted-text.tsx'
import styles from './markdown.module.css'

const RETRY_MS = 5_000

/** Until it is loaded, and while its server is gone, the text stands there as it was written. */
const FormattedText = lazy(loadFormatting)

export function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <div className={styles.markdown} data-testid="assistant-text">
      <Suspense fallback={<div className={styles.plain}>{text}</div>}>
        <FormattedText text={text} isStreaming={isStreaming} />
      </Suspense>
    </div>
  )
}

interface Formatting {
  default: typeof formattedText
}

let loading: Promise<Formatting> | undefined

/** Too large for an empty page; called with the first message, so that it is there before the answer. Repeatable. */
export function loadFormatting(): Promise<Formatting> {
  return (loading ??= load())
}

/** A rejection would take the whole page down with it. */
async function load(): Promise<Formatting> {
  for (;;) {
    try {
      return await import('./formatted-text.tsx')
    } catch (error) {
      console.warn('Texts cannot be formatted yet.', error)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
