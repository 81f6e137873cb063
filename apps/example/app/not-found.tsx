import Link from 'next/link'
import { Notice } from '../components/notice.tsx'

export default function NotFound() {
  return (
    <Notice title="There is nothing here">
      <Link href="/">Start a new thread</Link>
    </Notice>
  )
}
