import type { JSX } from 'preact'

/** Lines on a grid of 24 by 24. */
const shapes = {
  overview: 'M4 13h6V4H4zM14 20h6V4h-6zM4 20h6v-4H4z',
  jobs: 'M4 8h16v11H4zM9 8V5h6v3M4 13h16',
  triggers: 'M13 3 5 14h6l-1 7 8-11h-6z',
  cron: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 2',
  history: 'M4 12a8 8 0 1 1 2.5 5.8M4 12l-1.5-2M4 12l2.5-1.5M12 8v4l3 2',
  running: 'M8 5v14l11-7z',
  timeline: 'M4 6h9M8 12h10M6 18h7M4 3v18',
  calendars: 'M4 6h16v14H4zM4 10h16M8 3v5M16 3v5',
  misfires: 'M12 4 3 20h18zM12 10v4M12 17v.5',
  nodes: 'M5 4h14v6H5zM5 14h14v6H5zM8 7h.5M8 17h.5',
  executors: 'M4 4h16v6H4zM7 7h.5M8 10v8h5M13 15h7v6h-7z',
  groups: 'M3 6h7l2 2h9v11H3z',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  users:
    'M9 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 20c0-4 3-6 7-6s7 2 7 6M16 4.5a4 4 0 0 1 0 7M18 14.5c2.5.8 4 2.7 4 5.5',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5',
  menu: 'M4 6h16M4 12h16M4 18h16',
  open: 'M6 9l6 6 6-6',
  close: 'M6 6l12 12M18 6 6 18',
  pause: 'M8 5v14M16 5v14',
  play: 'M8 5v14l11-7z',
  skip: 'M6 5v14l9-7zM18 5v14',
  stop: 'M6 6h12v12H6z',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 3v2M12 19v2M3 12h2M19 12h2M6 6l1 1M17 17l1 1M6 18l1-1M17 7l1-1',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  signOut: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M16 16l4 4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  edit: 'M4 20h4L19 9l-4-4L4 16z',
  remove: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  language: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
} as const

export type IconName = keyof typeof shapes

/** A picture beside words; it says nothing by itself. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  )
}
