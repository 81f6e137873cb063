// Writes drizzle-kit's SQL into modules, so that it is found after packing, bundling and from any directory.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const source = join(import.meta.dirname, '../drizzle')
const target = join(import.meta.dirname, '../src/migrations')

const files = readdirSync(source)
  .filter((name) => name.endsWith('.sql'))
  .toSorted()

for (const file of files) {
  const text = readFileSync(join(source, file), 'utf8')
    .replaceAll(/--> statement-breakpoint\n?/g, '\n')
    // The runner makes the schema, because it may exist already and belong to an administrator.
    .replace('CREATE SCHEMA "holdfast";\n', '')
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')
  const name = file.slice(0, -4)
  writeFileSync(
    join(target, `${name.replaceAll('_', '-')}.ts`),
    `// Written by scripts/embed-migrations.mjs from drizzle/${file}.\nexport default \`${escaped}\`\n`,
  )
}
