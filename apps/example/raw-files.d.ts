/** A file as text, by the rule in `next.config.ts`. */
declare module '*?raw' {
  const text: string
  export default text
}
