-- A batch's chunks were one JSON text a line. JSON has no bare line break, so each one parts two chunks.
UPDATE "holdfast"."run_events" SET payload = '[' || replace(payload, chr(10), ',') || ']';
