// Written by scripts/embed-migrations.mjs from drizzle/0001_functions.sql.
export default `-- The one clock of every lease, offset and age. Tests replace it to move time.
CREATE OR REPLACE FUNCTION "holdfast"."now_ms"() RETURNS double precision LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::double precision
$$;

-- Each statement sees what the row lock before it waited for, so two saves of one thread never mix.
CREATE OR REPLACE FUNCTION "holdfast"."save_transcript"(p_thread text, p_bodies text, p_run text, p_epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_run IS NOT NULL THEN
    PERFORM 1 FROM "holdfast"."runs" WHERE run_id = p_run AND driver_epoch = p_epoch FOR SHARE;
    IF NOT FOUND THEN RETURN false; END IF;
  END IF;
  INSERT INTO "holdfast"."transcripts" (thread_id, saved_at) VALUES (p_thread, "holdfast"."now_ms"())
    ON CONFLICT (thread_id) DO UPDATE SET saved_at = excluded.saved_at;
  INSERT INTO "holdfast"."messages" AS m (thread_id, position, body)
    SELECT p_thread, item.ordinality - 1, item.value
    FROM json_array_elements_text(p_bodies::json) WITH ORDINALITY AS item
    ON CONFLICT (thread_id, position) DO UPDATE SET body = excluded.body WHERE m.body <> excluded.body;
  DELETE FROM "holdfast"."messages" WHERE thread_id = p_thread AND position >= json_array_length(p_bodies::json);
  RETURN true;
END
$$;

-- Each run's row is updated once a batch; free space on its page keeps those updates off the indexes.
ALTER TABLE "holdfast"."run_logs" SET (fillfactor = 70);

ALTER TABLE "holdfast"."locks" SET (fillfactor = 70);
`
