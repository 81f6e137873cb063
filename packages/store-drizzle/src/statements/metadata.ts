import { repeatable } from '../database/statement.ts'

export const findMetadata = repeatable(`select value from holdfast.metadata where namespace = $1 and key = $2`)

export const setMetadata = repeatable(`
  insert into holdfast.metadata (namespace, key, value) values ($1, $2, $3)
  on conflict (namespace, key) do update set value = excluded.value
`)

export const deleteMetadata = repeatable(`delete from holdfast.metadata where namespace = $1 and key = $2`)
