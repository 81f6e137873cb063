import { customType } from 'drizzle-orm/pg-core'

/** Ids and keys: ordered by their UTF-8 bytes whatever the database's collation is. */
export const idText = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' })

/** JSON as the text it arrived as. Never `json` or `jsonb`, which refuse NUL and reorder keys. */
export const jsonText = customType<{ data: string; driverData: string }>({ dataType: () => 'text' })

/** Epoch milliseconds. A double keeps every number that JavaScript can give it. */
export const epochMs = customType<{ data: number; driverData: number }>({ dataType: () => 'double precision' })

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
