'use client'

import { Notice } from '../components/notice.tsx'

export default function ErrorPage({ error, reset }: { error: Error; reset: () => void }) {
  return (
    <Notice title="The page failed">
      <p>{error.message}</p>
      <p>Runs are not affected: they go on without a page.</p>
      <button type="button" onClick={reset}>
        Try again
      </button>
    </Notice>
  )
}
