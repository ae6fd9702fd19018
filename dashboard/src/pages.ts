import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import type { OperationId } from './api/operations.ts'
import type { IconName } from './parts/icon.tsx'
import type { NavigationWords } from './words/navigation.ts'

export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

export interface PageEntry {
  /** Of preact-iso: `:name` is a parameter. */
  readonly path: string
  readonly component: ComponentType<PageProps>
  /** Null for a page that others lead to. */
  readonly navigation: {
    readonly label: keyof NavigationWords
    readonly icon: IconName
    /** Left out for those who may not call it. */
    readonly needs: OperationId
  } | null
}

type Load = () => Promise<ComponentType<PageProps>>

function page(path: string, load: Load, navigation: PageEntry['navigation'] = null): PageEntry {
  return { path, component: lazy(load), navigation }
}

/** Every page, in the order of the navigation; each one is loaded when it is first shown. */
export const pages: readonly PageEntry[] = [
  page('/', async () => (await import('./pages/overview/overview.tsx')).OverviewPage, {
    label: 'overview',
    icon: 'overview',
    needs: 'scheduler.get',
  }),
  page('/jobs', async () => (await import('./pages/jobs/job-list.tsx')).JobListPage, {
    label: 'jobs',
    icon: 'jobs',
    needs: 'jobs.list',
  }),
]
