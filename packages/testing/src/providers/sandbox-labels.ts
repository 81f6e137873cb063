type Labels = Readonly<Record<string, string>>

/** Whether both say the same: what proves that a sandbox with a known name is ours. */
export function haveSameLabels(a: Labels, b: Labels): boolean {
  return Object.keys(a).length === Object.keys(b).length && carriesLabels(a, b)
}

/** Whether `labels` has all of `wanted`. */
export function carriesLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
}
