import { ThreadView } from '../../../components/thread-view.tsx'

export default async function ThreadPage({ params }: { params: Promise<{ threadId: string }> }) {
  const threadId = decodeURIComponent((await params).threadId)
  return <ThreadView key={threadId} threadId={threadId} />
}
