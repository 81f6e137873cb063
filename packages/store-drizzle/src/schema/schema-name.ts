import { pgSchema } from 'drizzle-orm/pg-core'

/** The schema that the tables are declared in. Statements are rewritten when an app chooses another name. */
export const SCHEMA_NAME = 'holdfast'

/** The PostgreSQL schema that holds every table. */
export const holdfastSchema = pgSchema(SCHEMA_NAME)
