'use client'

import { memo } from 'react'
import { Streamdown } from 'streamdown'
import type { Components } from 'streamdown'

/**
 * Plain elements, styled by the page. A model's text may come from a file that somebody else wrote, so an image is a
 * link: showing it would tell its server that, and what, somebody reads.
 */
const components: Components = {
  a: ({ children, href }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  img: ({ alt, src }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || 'Image'}
    </a>
  ),
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  code: ({ children, className }) => <code className={className}>{children}</code>,
  inlineCode: ({ children }) => <code>{children}</code>,
  table: ({ children }) => (
    <div data-table>
      <table>{children}</table>
    </div>
  ),
}

function FormattedText({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <Streamdown mode="streaming" parseIncompleteMarkdown isAnimating={isStreaming} components={components}>
      {text}
    </Streamdown>
  )
}

export default memo(FormattedText)
