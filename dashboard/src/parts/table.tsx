import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { numberText } from '../time/format.ts'
import { common } from '../words/common.ts'
import { Icon } from './icon.tsx'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand at the end. */
  readonly isNumber?: boolean
  /** Takes the room that is left. */
  readonly isWide?: boolean
  /** Its title is for those who hear the page alone. */
  readonly isTitleHidden?: boolean
  /** Left out on a telephone. */
  readonly isMinor?: boolean
}

export interface Selection<Row> {
  /** The rows that are selected, under their keys. */
  readonly rows: Signal<ReadonlyMap<string, Row>>
  readonly nameOf: (row: Row) => string
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  /** Null while they load first. */
  readonly rows: readonly Row[] | null
  readonly keyOf: (row: Row) => string
  readonly empty: ComponentChildren
  readonly selection?: Selection<Row>
  /** What is shown below a row when it is opened. */
  readonly detail?: (row: Row) => ComponentChildren
}

const skeletonRows = 5

/** More rows than this are shown when they are asked for: ten thousand would keep the page busy at each event. */
const rowsAtATime = 250

/** A table; on a telephone each row is a card. */
export function Table<Row>({ rows, ...props }: TableProps<Row>): JSX.Element {
  const most = useSignal(rowsAtATime)
  if (rows === null || rows.length <= most.value) return <WholeTable rows={rows} {...props} />
  return (
    <>
      <WholeTable rows={rows.slice(0, most.value)} {...props} />
      <div class="pager">
        <span class="muted">{common().shownOf(numberText(most.value), numberText(rows.length))}</span>
        <button
          type="button"
          class="button plain"
          onClick={() => {
            most.value += rowsAtATime
          }}
        >
          {common().showMore}
        </button>
      </div>
    </>
  )
}

function WholeTable<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, empty, selection, detail } = props
  if (rows?.length === 0) return <>{empty}</>
  return (
    // A wide table scrolls within its box, also by the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus for the keys to do it.
    <div class="table-box" tabIndex={0}>
      <table class="table" aria-busy={rows === null}>
        <caption class="only-read">{caption}</caption>
        <thead>
          <tr>
            {selection !== undefined && <SelectAll rows={rows ?? []} keyOf={keyOf} selection={selection} />}
            {columns.map((column) => (
              <th key={column.id} scope="col" class={classOf(column)}>
                {column.isTitleHidden === true ? <span class="only-read">{column.title}</span> : column.title}
              </th>
            ))}
            {detail !== undefined && (
              <th scope="col">
                <span class="only-read">{common().details}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows === null
            ? Array.from({ length: skeletonRows }, (_, index) => (
                <SkeletonRow key={index} columns={columns.length} />
              ))
            : rows.map((row) => <TableRow key={keyOf(row)} row={row} {...props} />)}
        </tbody>
      </table>
    </div>
  )
}

function TableRow<Row>({
  row,
  columns,
  keyOf,
  selection,
  detail,
}: TableProps<Row> & { readonly row: Row }): JSX.Element {
  const isOpen = useSignal(false)
  const id = useId()
  return (
    <>
      <tr>
        {selection !== undefined && <SelectRow row={row} id={keyOf(row)} selection={selection} />}
        {columns.map((column) => (
          <td
            key={column.id}
            class={classOf(column)}
            data-label={column.isTitleHidden === true ? '' : column.title}
          >
            {column.cell(row)}
          </td>
        ))}
        {detail !== undefined && (
          <td class="open-row">
            <button
              type="button"
              class="button quiet small"
              aria-label={common().details}
              aria-expanded={isOpen.value}
              aria-controls={isOpen.value ? id : undefined}
              onClick={() => {
                isOpen.value = !isOpen.value
              }}
            >
              <Icon name="open" />
            </button>
          </td>
        )}
      </tr>
      {detail !== undefined && isOpen.value && (
        <tr id={id} class="row-detail">
          <td colSpan={columns.length + 2}>{detail(row)}</td>
        </tr>
      )}
    </>
  )
}

function classOf<Row>({ isNumber, isWide, isMinor }: Column<Row>): string {
  return [isNumber === true && 'number', isWide === true && 'wide', isMinor === true && 'minor']
    .filter((name) => name !== false)
    .join(' ')
}

function SkeletonRow({ columns }: { readonly columns: number }): JSX.Element {
  return (
    <tr class="skeleton">
      <td colSpan={columns + 1}>
        <span class="only-read">{common().loading}</span>
      </td>
    </tr>
  )
}

interface SelectAllProps<Row> {
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly selection: Selection<Row>
}

function SelectAll<Row>({ rows, keyOf, selection }: SelectAllProps<Row>): JSX.Element {
  const selected = selection.rows
  const isAll = rows.length > 0 && rows.every((row) => selected.value.has(keyOf(row)))
  return (
    <th scope="col" class="check">
      <input
        type="checkbox"
        aria-label={common().selectAll}
        checked={isAll}
        onChange={() => {
          selected.value = isAll ? new Map() : new Map(rows.map((row) => [keyOf(row), row]))
        }}
      />
    </th>
  )
}

interface SelectRowProps<Row> {
  readonly row: Row
  readonly id: string
  readonly selection: Selection<Row>
}

function SelectRow<Row>({ row, id, selection }: SelectRowProps<Row>): JSX.Element {
  const { rows, nameOf } = selection
  const isSelected: ReadonlySignal<boolean> = useComputed(() => rows.value.has(id))
  return (
    <td class="check">
      <input
        type="checkbox"
        aria-label={common().select(nameOf(row))}
        checked={isSelected.value}
        onChange={() => {
          const next = new Map(rows.value)
          if (!next.delete(id)) next.set(id, row)
          rows.value = next
        }}
      />
    </td>
  )
}
