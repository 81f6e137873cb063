import type { RunActivity } from '../lib/client/run-activity.ts'
import type { RunState } from '../lib/client/run-state.ts'
import { CheckpointsPanel } from './checkpoints/checkpoints-panel.tsx'
import { FilesPanel } from './files-panel.tsx'
import { SidePanel } from './side-panel.tsx'
import type { SideTab } from './side-panel.tsx'

interface ThreadSideProps {
  threadId: string
  isStored: boolean
  activity: RunActivity
  state: RunState
  tab: SideTab
  onTab: (tab: SideTab) => void
  onClose: () => void
  onRewound: () => void
}

/** The thread's files and checkpoints, beside its chat. */
export function ThreadSide({ threadId, isStored, activity, state, onRewound, ...panel }: ThreadSideProps) {
  const { changes, fileVersion } = activity
  const thread = { threadId, isStored }
  return (
    <SidePanel
      {...panel}
      files={<FilesPanel {...thread} changes={changes} version={`${fileVersion}:${state.kind}`} />}
      checkpoints={<CheckpointsPanel {...thread} version={state.kind} onRewound={onRewound} />}
    />
  )
}
