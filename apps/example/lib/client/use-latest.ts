'use client'

import { useLayoutEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** The newest value, for callbacks that run later. */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  }, [value])
  return latest
}
