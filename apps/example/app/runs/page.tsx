import type { Metadata } from 'next'
import { RunTable } from '../../components/run-table.tsx'

export const metadata: Metadata = { title: 'Runs' }

export default function RunsPage() {
  return <RunTable />
}
