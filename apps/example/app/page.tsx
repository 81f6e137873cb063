import { redirect } from 'next/navigation'
import { newThreadId } from '../lib/client/new-thread-id.ts'

export const dynamic = 'force-dynamic'

/** A visit starts a new thread; it is stored with its first message. */
export default function HomePage() {
  redirect(`/t/${newThreadId()}`)
}
