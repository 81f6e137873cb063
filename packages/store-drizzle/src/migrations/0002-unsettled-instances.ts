// Written by scripts/embed-migrations.mjs from drizzle/0002_unsettled_instances.sql.
export default `CREATE INDEX "sandbox_instances_unsettled" ON "holdfast"."sandbox_instances" USING btree ("state","updated_at","key") WHERE "holdfast"."sandbox_instances"."state" <> 'ready';`
