'use client'

import { useRef } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import styles from './side-panel.module.css'

export const SIDE_TABS = ['files', 'checkpoints'] as const
export type SideTab = (typeof SIDE_TABS)[number]

const TITLES: Readonly<Record<SideTab, string>> = { files: 'Files', checkpoints: 'Checkpoints' }

interface SidePanelProps {
  tab: SideTab
  onTab: (tab: SideTab) => void
  onClose: () => void
  files: ReactNode
  checkpoints: ReactNode
}

/** What stands beside the chat, one of two at a time. The files keep their place while they are not looked at. */
export function SidePanel({ tab, onTab, onClose, files, checkpoints }: SidePanelProps) {
  const tabs = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = SIDE_TABS[(SIDE_TABS.indexOf(tab) + step + SIDE_TABS.length) % SIDE_TABS.length]
    if (step === 0 || next === undefined) return
    event.preventDefault()
    onTab(next)
    tabs.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    <aside id="side-panel" className={styles.panel} aria-label="Files and checkpoints">
      <header className={styles.head}>
        <div className={styles.tabs} role="tablist" aria-label="Beside the chat" ref={tabs}>
          {SIDE_TABS.map((name) => (
            <button
              key={name}
              id={`tab-${name}`}
              type="button"
              role="tab"
              aria-selected={name === tab}
              aria-controls={`panel-${name}`}
              tabIndex={name === tab ? 0 : -1}
              onClick={() => onTab(name)}
              onKeyDown={onKeyDown}
            >
              {TITLES[name]}
            </button>
          ))}
        </div>
        <button type="button" className={styles.close} onClick={onClose} aria-label={`Close ${tab}`}>
          ×
        </button>
      </header>
      <TabPanel name="files" isShown={tab === 'files'}>
        {files}
      </TabPanel>
      <TabPanel name="checkpoints" isShown={tab === 'checkpoints'}>
        {tab === 'checkpoints' && checkpoints}
      </TabPanel>
    </aside>
  )
}

function TabPanel({ name, isShown, children }: { name: SideTab; isShown: boolean; children: ReactNode }) {
  return (
    <div
      id={`panel-${name}`}
      className={styles.content}
      role="tabpanel"
      aria-labelledby={`tab-${name}`}
      hidden={!isShown}
      data-testid={name}
    >
      {children}
    </div>
  )
}
