import styles from './diff-view.module.css'

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk', '\\': 'note' }

/** A unified diff, a line a row; the sign stays readable without colour. */
export function DiffView({ diff }: { diff: string }) {
  const lines = diff.replace(/\n$/, '').split('\n')
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'))
  return (
    <pre className={styles.diff} tabIndex={0} aria-label="Diff" data-testid="file-diff">
      {lines.slice(Math.max(0, firstHunk)).map((line, index) => (
        <span key={index} data-kind={KINDS[line[0] ?? ''] ?? 'same'}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  )
}
