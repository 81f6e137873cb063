import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/migrations/migration-list.ts'
import * as schema from '../../src/schema.ts'

const FOLDER = join(import.meta.dirname, '../../drizzle')

test('the migrations make exactly the tables of the schema', async () => {
  const snapshots = readdirSync(join(FOLDER, 'meta')).filter((name) => name.endsWith('_snapshot.json'))
  const last = JSON.parse(readFileSync(join(FOLDER, 'meta', snapshots.toSorted().at(-1)!), 'utf8')) as { id: string }
  const now = generateDrizzleJson(schema, last.id, ['holdfast'])
  expect(await generateMigration(last as never, now)).toEqual([])
})

test('every generated migration is embedded and listed', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'))
  expect(MIGRATIONS.map(({ name }) => name)).toEqual(files.map((name) => name.slice(5, -4)))
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(files.map((_, index) => index + 1))
  for (const [index, file] of files.entries()) {
    const statements = readFileSync(join(FOLDER, file), 'utf8').split(/--> statement-breakpoint\n?/)
    for (const statement of statements.filter((each) => !each.startsWith('CREATE SCHEMA'))) {
      expect(MIGRATIONS[index]!.sql).toContain(statement.trim())
    }
  }
})
