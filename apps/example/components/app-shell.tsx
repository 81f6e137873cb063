'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useState } from 'react'
import type { ReactNode } from 'react'
import styles from './app-shell.module.css'
import { HealthBadges } from './health-badges.tsx'
import { ThreadList } from './thread-list.tsx'

/** Header and thread list around every page. On a phone the list is a drawer. */
export function AppShell({ children }: { children: ReactNode }) {
  const pathname = usePathname()
  // Going to another page closes it.
  const [openAt, setOpenAt] = useState<string | null>(null)
  const isListOpen = openAt === pathname
  return (
    <div className={styles.shell}>
      <header className={styles.header}>
        <button
          type="button"
          className={styles.menu}
          aria-expanded={isListOpen}
          aria-controls="threads"
          aria-label="Threads"
          onClick={() => setOpenAt(isListOpen ? null : pathname)}
        >
          <MenuIcon />
        </button>
        <Link href="/" className={styles.brand} prefetch={false}>
          <span className={styles.mark} aria-hidden>
            H
          </span>
          <span className={styles.name}>Holdfast</span>
        </Link>
        <HealthBadges />
        <nav className={styles.nav} aria-label="Pages">
          <Link href="/runs" prefetch={false} aria-current={pathname === '/runs' ? 'page' : undefined}>
            Runs
          </Link>
        </nav>
      </header>
      <div className={styles.body}>
        <aside id="threads" className={styles.sidebar} data-open={isListOpen} aria-label="Threads">
          <ThreadList />
        </aside>
        {isListOpen && <div className={styles.scrim} onClick={() => setOpenAt(null)} aria-hidden />}
        <main className={styles.main}>{children}</main>
      </div>
    </div>
  )
}

function MenuIcon() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden>
      <path d="M2 4.5h14M2 9h14M2 13.5h14" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
    </svg>
  )
}
