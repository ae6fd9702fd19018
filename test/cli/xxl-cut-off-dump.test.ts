import { describe, expect, test } from 'vitest'
import { run, temporaryFile } from './fake-host.ts'

describe('xxl import of a dump that is not whole', () => {
  const columns = [
    'id',
    'job_group',
    'job_desc',
    'schedule_type',
    'executor_handler',
    'executor_param',
    'glue_type',
  ]
  const table = (name: string, names: readonly string[]): string =>
    `CREATE TABLE ${name} (${names.map((column) => `${column} varchar(9) COMMENT 'a, (b)'`).join(', ')}, KEY (id));\n`
  const group = `${table('xxl_job_group', ['id', 'app_name'])}INSERT INTO xxl_job_group VALUES (1,'billing');\n`
  const row = (id: number): string => `(${id},1,'d${id}','NONE','h','region=europe;dry=true','BEAN')`
  const jobs = `${table('xxl_job_info', columns)}INSERT INTO xxl_job_info VALUES ${row(1)},\n${row(2)},\n${row(3)}`
  const whole = `${group}${jobs};\n`
  const users = "INSERT INTO xxl_job_user (id, username) VALUES (1,'it''s'), (2,'bob')"

  async function importOf(text: string): Promise<{ code: number; out: string; err: string }> {
    return run(['xxl', 'import', temporaryFile('dump', text), '--dry-run'])
  }

  test.each([
    ['a text', whole.slice(0, whole.lastIndexOf('dry=')), 'ends within row 3 of xxl_job_info'],
    ['an escape', `${whole}${users.slice(0, users.indexOf("'s'"))}\\`, 'ends within row 1 of xxl_job_user'],
    ['a row', whole.slice(0, whole.lastIndexOf(",'BEAN'")), 'ends within row 3 of xxl_job_info'],
    ['a list of rows', whole.slice(0, whole.lastIndexOf('(3,')), 'ends within the rows of xxl_job_info'],
    ['a statement', group + jobs, 'ends within the rows of xxl_job_info'],
    [
      'names of columns',
      `${whole}INSERT INTO xxl_job_user (id, user`,
      'ends within the rows of xxl_job_user',
    ],
    ['words', `${whole}INSERT INTO`, 'ends within a statement'],
    ['a table', whole.slice(0, whole.indexOf(' COMMENT')), 'ends within the columns of xxl_job_group'],
    [
      'a text elsewhere',
      `${whole}INSERT INTO xxl_job_log VALUES (1),('a`,
      'ends within the rows of xxl_job_log',
    ],
    ['another statement', `${whole}SET NAMES 'utf8`, 'ends within a text'],
  ])('that ends within %s is refused, also with all before it', async (_where, text, place) => {
    const { code, out, err } = await importOf(text)
    expect(err).toContain(`${place}, before a ';'. Make the dump again.`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test.each(['MySQL dump 10.13  Distrib 8.0.36', 'MariaDB dump 10.19-11.4.2'])(
    'as mysqldump begins and does not end it is refused: %s',
    async (title) => {
      const begun = `/*M!999999\\- enable the sandbox mode */ \n-- ${title}\n${whole}`
      const { code, err } = await importOf(begun)
      expect(err).toContain("has no '-- Dump completed' at its end. Make the dump again.")
      expect(code).toBe(2)
      // The footer of the first of two dumps in one file is not that of the second.
      const ended = `${begun}-- Dump completed on 2024-05-02 10:00:00\n`
      expect(await importOf(ended)).toMatchObject({ code: 0, err: '' })
      expect(await importOf(ended + begun)).toMatchObject({ code: 2 })
    },
  )

  test('names rows with too few or too many values, and leaves them out', async () => {
    const rows = [row(1), "(2,1,'d')", '(3,(4),1,2,3,4,5,6)', row(4)].join(',\n')
    const text = `${group}${table('xxl_job_info', columns)}INSERT INTO xxl_job_info VALUES ${rows};\n`
    const { code, out } = await importOf(`${text}INSERT INTO xxl_job_group VALUES (2);\n${users};`)
    expect(out.split('\n')).toEqual([
      '1 executor group, 2 jobs, 0 schedules, 2 users',
      'executor group billing: registers',
      "user it's: no rights; needs a new password",
      'user bob: no rights; needs a new password',
      'row 2 of xxl_job_group: left out: it has 1 value for 2 columns',
      'row 2 of xxl_job_info: left out: it has 3 values for 7 columns',
      'row 3 of xxl_job_info: left out: it has 8 values for 7 columns',
      '',
    ])
    expect(code).toBe(0)
  })
})
