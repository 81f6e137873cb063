'use client'

import { useState } from 'react'
import type { FileEntry } from '../lib/client/api.ts'
import type { FileChange } from '../lib/client/run-activity.ts'
import styles from './file-tree.module.css'

const MARKS = { create: 'new', change: 'changed', delete: 'deleted' } as const

interface FileTreeProps {
  files: readonly FileEntry[]
  changes: Readonly<Record<string, FileChange>>
  selected: string | null
  onSelect: (path: string) => void
}

/** Files by directory. Deleted ones that changed while the page was open are still listed, for their diffs. */
export function FileTree({ files, changes, selected, onSelect }: FileTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const toggle = (path: string): void => {
    const next = new Set(closed)
    if (!next.delete(path)) next.add(path)
    setClosed(next)
  }
  const entries = withDeleted(files, changes).filter(({ path }) => !parents(path).some((parent) => closed.has(parent)))
  return (
    <ul className={styles.tree} data-testid="file-tree">
      {entries.map(({ path, type }) => {
        const change = type === 'file' ? changes[path] : undefined
        const isDir = type === 'dir'
        return (
          <li key={path} style={{ paddingInlineStart: `${parents(path).length * 14}px` }}>
            <button
              type="button"
              className={styles.entry}
              data-type={type}
              data-change={change?.change}
              aria-expanded={isDir ? !closed.has(path) : undefined}
              aria-pressed={isDir ? undefined : selected === path}
              onClick={() => (isDir ? toggle(path) : onSelect(path))}
            >
              <span className={styles.icon} data-type={type} data-open={!closed.has(path)} aria-hidden />
              <span className={styles.name}>{path.split('/').at(-1)}</span>
              {change !== undefined && <span className={styles.mark}>{MARKS[change.change]}</span>}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function parents(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

function withDeleted(files: readonly FileEntry[], changes: FileTreeProps['changes']): FileEntry[] {
  const present = new Set(files.map(({ path }) => path))
  const deleted = Object.entries(changes)
    .filter(([path, { change }]) => change === 'delete' && !present.has(path))
    .map(([path]): FileEntry => ({ path, type: 'file' }))
  return [...files, ...deleted].sort((a, b) => (treeKey(a.path) < treeKey(b.path) ? -1 : 1))
}

/** Sorts a directory directly before what it holds. */
function treeKey(path: string): string {
  return path.replaceAll('/', '\u0000')
}
