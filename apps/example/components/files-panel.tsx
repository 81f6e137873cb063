'use client'

import { useState } from 'react'
import type { FileChange } from '../lib/client/run-activity.ts'
import { useFiles } from '../lib/client/use-files.ts'
import { FileTree } from './file-tree.tsx'
import { FileViewer } from './file-viewer.tsx'
import styles from './files-panel.module.css'

interface FilesPanelProps {
  threadId: string
  isStored: boolean
  changes: Readonly<Record<string, FileChange>>
  /** The workspace is listed again when it changes. */
  version: string
}

/** The workspace: what is there, what changed, and what a file holds. */
export function FilesPanel({ threadId, isStored, changes, version }: FilesPanelProps) {
  const { files, isTruncated, problem, refresh } = useFiles(threadId, isStored ? version : null)
  const [selected, setSelected] = useState<string | null>(null)
  return (
    <>
      <header className={styles.head}>
        <h2>Workspace</h2>
        <button type="button" onClick={() => void refresh()}>
          Refresh
        </button>
      </header>
      {problem !== null && (
        <p className={styles.note} role="alert">
          {problem}
        </p>
      )}
      {files === null && problem === null && <p className={styles.note}>Loading files…</p>}
      {files?.length === 0 && <p className={styles.note}>Nothing here yet. Files that a run writes appear here.</p>}
      {files !== null && files.length > 0 && (
        <FileTree files={files} changes={changes} selected={selected} onSelect={setSelected} />
      )}
      {isTruncated && <p className={styles.note}>There are more files than are shown.</p>}
      {selected !== null && (
        <FileViewer
          key={selected}
          threadId={threadId}
          path={selected}
          change={changes[selected]}
          version={version}
          onClose={() => setSelected(null)}
        />
      )}
    </>
  )
}
