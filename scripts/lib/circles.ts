/**
 * Finds circles among imports.
 */

export interface Arrow {
  readonly from: string
  readonly to: string
}

/** At least one circle of each knot of files that import each other; each ends with the file it starts with. */
export const circlesIn = (arrows: ReadonlyArray<Arrow>): ReadonlyArray<ReadonlyArray<string>> => {
  const targets = new Map<string, Array<string>>()
  for (const { from, to } of arrows) targets.set(from, [...(targets.get(from) ?? []), to])
  const done = new Set<string>()
  const circles: Array<ReadonlyArray<string>> = []

  const visit = (file: string, trail: ReadonlyArray<string>): void => {
    if (trail.includes(file)) {
      circles.push([...trail.slice(trail.indexOf(file)), file])
      return
    }
    if (done.has(file)) return
    for (const to of targets.get(file) ?? []) visit(to, [...trail, file])
    // Only now: a file that is still on the trail must be seen again to close a circle.
    done.add(file)
  }

  for (const file of targets.keys()) visit(file, [])
  return circles
}
