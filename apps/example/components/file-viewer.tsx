'use client'

import { useEffect, useState } from 'react'
import { fileUrl, messageOf, readFile } from '../lib/client/api.ts'
import type { FileChange } from '../lib/client/run-activity.ts'
import { DiffView } from './diff-view.tsx'
import styles from './file-viewer.module.css'

/** More text than this makes a page slow; the rest is in the download. */
const MAX_SHOWN_CHARS = 200_000

interface FileViewerProps {
  threadId: string
  path: string
  change: FileChange | undefined
  version: string
  onClose: () => void
}

/** One file: how it changed while the page was open, and what it holds now. */
export function FileViewer({ threadId, path, change, version, onClose }: FileViewerProps) {
  const [choice, setChoice] = useState<'diff' | 'content' | null>(null)
  const diff = change?.diff
  const tab = choice ?? (diff === undefined ? 'content' : 'diff')
  return (
    <section className={styles.viewer} aria-label={`File ${path}`} data-testid="file-viewer">
      <header className={styles.head}>
        <h3 title={path}>{path}</h3>
        <button type="button" onClick={onClose} aria-label="Close file">
          ×
        </button>
        {diff !== undefined && (
          <span className={styles.tabs}>
            <button type="button" aria-pressed={tab === 'diff'} onClick={() => setChoice('diff')}>
              Diff
            </button>
            <button type="button" aria-pressed={tab === 'content'} onClick={() => setChoice('content')}>
              Content
            </button>
          </span>
        )}
        <a href={fileUrl(threadId, path)} download>
          Download
        </a>
      </header>
      {tab === 'diff' && diff !== undefined ? (
        <DiffView diff={diff} />
      ) : (
        <Content threadId={threadId} path={path} version={version} />
      )}
    </section>
  )
}

function Content({ threadId, path, version }: { threadId: string; path: string; version: string }) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    readFile(threadId, path).then(
      (bytes) => {
        if (!isCurrent) return
        setProblem(null)
        setText(shownText(bytes))
      },
      (error: unknown) => {
        if (isCurrent) setProblem(messageOf(error))
      },
    )
    return () => {
      isCurrent = false
    }
  }, [threadId, path, version])
  if (problem !== null) {
    return (
      <p className={styles.note} role="alert">
        {problem}
      </p>
    )
  }
  if (text === null) return <p className={styles.note}>Loading…</p>
  return (
    <pre className={styles.content} tabIndex={0} data-testid="file-content">
      {text}
    </pre>
  )
}

function shownText(bytes: Uint8Array): string {
  if (bytes.includes(0)) return `Binary file, ${bytes.length} bytes. Download it to look inside.`
  const text = new TextDecoder().decode(bytes)
  if (text === '') return 'The file is empty.'
  return text.length > MAX_SHOWN_CHARS
    ? `${text.slice(0, MAX_SHOWN_CHARS)}\n… cut; download the file for the rest.`
    : text
}
