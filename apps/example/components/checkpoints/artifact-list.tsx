import { artifactUrl } from '../../lib/client/checkpoints-api.ts'
import type { Artifact } from '../../lib/client/checkpoints-api.ts'
import styles from './artifact-list.module.css'

/** What runs published for the reader. */
export function ArtifactList({ threadId, artifacts }: { threadId: string; artifacts: readonly Artifact[] }) {
  return (
    <section className={styles.section} aria-labelledby="artifacts-title">
      <h3 id="artifacts-title">Artifacts</h3>
      {artifacts.length === 0 && <p>Files that a run publishes can be downloaded here.</p>}
      <ul data-testid="artifacts">
        {artifacts.toReversed().map(({ artifactId, name, size }) => (
          <li key={artifactId}>
            <a href={artifactUrl(threadId, artifactId)} download={name} title={name}>
              {name}
            </a>
            <span>{sizeOf(size)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}
