// Written by scripts/embed-migrations.mjs from drizzle/0003_event_lists.sql.
export default `-- A batch's chunks were one JSON text a line. JSON has no bare line break, so each one parts two chunks.
UPDATE "holdfast"."run_events" SET payload = '[' || replace(payload, chr(10), ',') || ']';
`
