'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** How near to the end counts as at the end. */
const SLACK_PX = 48

export interface StickToEnd {
  scroller: RefObject<HTMLDivElement | null>
  content: RefObject<HTMLDivElement | null>
  isAtEnd: boolean
  jumpToEnd: () => void
}

/** Keeps a scrolled box at its end while its content grows, unless the reader has scrolled away. */
export function useStickToEnd(): StickToEnd {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isPinned = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)

  const jumpToEnd = useCallback(() => {
    isPinned.current = true
    setAtEnd(true)
    const box = scroller.current
    if (box !== null) box.scrollTop = box.scrollHeight
  }, [])

  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (box === null || inner === null) return undefined
    let lastTop = box.scrollTop
    const onScroll = (): void => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < SLACK_PX
      // Growth moves the end away without a scroll up; only the reader scrolls up.
      if (isNear) isPinned.current = true
      else if (box.scrollTop < lastTop) isPinned.current = false
      lastTop = box.scrollTop
      setAtEnd(isPinned.current)
    }
    const observer = new ResizeObserver(() => {
      if (isPinned.current) box.scrollTop = box.scrollHeight
    })
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', onScroll)
    }
  }, [])

  return { scroller, content, isAtEnd, jumpToEnd }
}
