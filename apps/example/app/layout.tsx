import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { AppShell } from '../components/app-shell.tsx'
import './globals.css'

export const metadata: Metadata = {
  title: { default: 'Holdfast', template: '%s · Holdfast' },
  description: 'Chat with a durable sandbox: reload mid-run, lose nothing.',
}

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  colorScheme: 'light dark',
}

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <AppShell>{children}</AppShell>
      </body>
    </html>
  )
}
