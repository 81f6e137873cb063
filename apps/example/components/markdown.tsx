'use client'

import { lazy, Suspense } from 'react'
import styles from './markdown.module.css'

/** Loaded after the first paint; until then the text stands there as it was written. */
const FormattedText = lazy(() => import('./formatted-text.tsx'))

export function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <div className={styles.markdown} data-testid="assistant-text">
      <Suspense fallback={<div className={styles.plain}>{text}</div>}>
        <FormattedText text={text} isStreaming={isStreaming} />
      </Suspense>
    </div>
  )
}
