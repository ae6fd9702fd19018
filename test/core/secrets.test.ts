import { expect, test } from 'vitest'
import { hasHidden, withHidden, withoutSecrets } from '../../src/core/secrets.ts'

test.each([
  ['postgres://db.example/app', 'postgres://db.example/app'],
  ['postgres://user:secret@db.example/app', 'postgres://db.example/app'],
  ['postgres://secret@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:sec@ret@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:sec/ret@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:12/secret@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:sec?ret@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:12?secret@db.example/app', 'postgres://db.example/app'],
  ['postgres://db.example/app?password=secret', 'postgres://db.example/app?password=***'],
  [
    'postgres://u:secret@db/app?user=a@b&Password=se cret&ssl=1',
    'postgres://db/app?user=a@b&Password=***&ssl=1',
  ],
  ['postgres:///app?host=/run&sslpassword=secret', 'postgres:///app?host=/run&sslpassword=***'],
  ['https://medium.example/@user/feed', 'https://medium.example/@user/feed'],
  ['https://medium.example:8080/@user', 'https://medium.example:8080/@user'],
  ['https://me:secret@medium.example/@user', 'https://medium.example/@user'],
  ['https://me:4711/@medium.example/', 'https://medium.example/'],
  ['https://me:se@cret/@medium.example/', 'https://medium.example/'],
  ['postgres://user:4711/@db.example/app', 'postgres://db.example/app'],
  ['postgres://user:sec@ret/x@db.example/app', 'postgres://db.example/app'],
  ['redis://u:123/x/@host/0', 'redis://host/0'],
  ['mysql://root:secret@db/app', 'mysql://db/app'],
  ['host=db password=secret user=u', 'host=db password=*** user=u'],
  [`host=db password = 'sec ret\\' x' user=u`, 'host=db password = *** user=u'],
  ['Server=db;Pwd=secret', 'Server=db;Pwd=***'],
  ['PGPASSWORD=secret', 'PGPASSWORD=***'],
  ['jobs.db?password=secret', 'jobs.db?password=***'],
  ['jobs.db', 'jobs.db'],
  ['Job x threw: no postgres://u:pw@h/db, twice', 'Job x threw: no postgres://h/db, twice'],
  ['threw: redis://u:p/w@h (cause: https://me:s@cret@h2/x)', 'threw: redis://h (cause: https://h2/x)'],
  [
    'see https://a.example/@user or http://h/x then a@b',
    'see https://a.example/@user or http://h/x then a@b',
  ],
  ['https://a.example/x fails for postgres://u:pw@h/db', 'https://a.example/x fails for postgres://h/db'],
  ['no https://a.example/?to=postgres://u:pw@h/db', 'no https://a.example/?to=postgres://h/db'],
  ['["postgres://u:p@h","mysql://u:p\\"w@h",1]', '["postgres://h","mysql://h",1]'],
  ['{"url":"https://a.example","mail":"a@b"}', '{"url":"https://a.example","mail":"a@b"}'],
  ['C:\\jobs\\passwords.db', 'C:\\jobs\\passwords.db'],
  ['folder@home/jobs.db', 'folder@home/jobs.db'],
])('%s is shown as %s', (address, shown) => {
  expect(withoutSecrets(address)).toBe(shown)
})

test.each([
  ['postgres://user:secret@db.example/app', 'postgres://***@db.example/app'],
  ['postgres://db.example/app', 'postgres://db.example/app'],
  ['https://me:secret@medium.example/@user', 'https://***@medium.example/@user'],
  ['https://u@x/?token=abc&a=1', 'https://***@x/?token=***&a=1'],
  ['host=db password=secret', 'host=db password=***'],
  ['no postgres://u:p@h, no https://x:y@z/', 'no postgres://***@h, no https://***@z/'],
])('%s is masked as %s, which says where something is hidden', (text, shown) => {
  expect(withHidden(text)).toBe(shown)
  expect(hasHidden(shown)).toBe(shown.includes('***'))
  expect(hasHidden(text)).toBe(false)
})

test.each(['***', 'three stars: ***', 'https://x/***?a=***', 'password=secret ***'])(
  '%s hides nothing',
  (text) => {
    expect(hasHidden(text)).toBe(false)
  },
)

test.each([
  'a'.repeat(1_000_000),
  'a://'.repeat(250_000),
  'a://b@'.repeat(170_000),
  'a://b/x@'.repeat(125_000),
  '"a://'.repeat(200_000),
  'a:// '.repeat(200_000),
  `a://${'b:'.repeat(500_000)}`,
])('a long text takes no long time: %#', (text) => {
  // In hours, were it to grow with the square of the length.
  expect(withoutSecrets(text).length).toBeLessThanOrEqual(text.length)
})
