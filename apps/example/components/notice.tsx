import type { ReactNode } from 'react'
import styles from './notice.module.css'

/** A page that has one thing to say. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.notice}>
      <h1>{title}</h1>
      {children}
    </section>
  )
}
