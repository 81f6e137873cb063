/** For `ref`: what the reader asked for appears where the keyboard is. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}
