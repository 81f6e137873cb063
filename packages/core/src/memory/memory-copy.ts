/** A deep copy of a record of JSON values, without undefined fields: what a database would give back. */
export function copyRecord<T extends object>(record: T): T {
  return JSON.parse(JSON.stringify(record)) as T
}
