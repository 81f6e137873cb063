CREATE SCHEMA "holdfast";
--> statement-breakpoint
CREATE TABLE "holdfast"."artifacts" (
	"artifact_id" text collate "C" PRIMARY KEY NOT NULL,
	"run_id" text collate "C" NOT NULL,
	"thread_id" text collate "C" NOT NULL,
	"blob_key" text collate "C",
	"created_at" double precision NOT NULL,
	"attributes" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."blob_chunks" (
	"upload_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"bytes" "bytea" NOT NULL,
	"stored_at" double precision NOT NULL,
	CONSTRAINT "blob_chunks_pk" PRIMARY KEY("upload_id","position")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."blobs" (
	"key" text collate "C" PRIMARY KEY NOT NULL,
	"upload_id" uuid NOT NULL,
	"size" bigint NOT NULL,
	"chunk_bytes" integer NOT NULL,
	"etag" text NOT NULL,
	"attributes" text,
	"created_at" double precision NOT NULL,
	"touched_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."checkpoint_heads" (
	"thread_id" text collate "C" PRIMARY KEY NOT NULL,
	"head_id" text collate "C",
	"writer_owner" uuid,
	"writer_fence" bigint DEFAULT 0 NOT NULL,
	"writer_expires_at" double precision DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."checkpoint_nodes" (
	"node_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."checkpoint_nodes_node_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"thread_id" text collate "C" NOT NULL,
	"kind" text NOT NULL,
	"base_id" bigint,
	"depth" integer NOT NULL,
	"chain_bytes" bigint NOT NULL,
	"body" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."checkpoints" (
	"checkpoint_id" text collate "C" PRIMARY KEY NOT NULL,
	"thread_id" text collate "C" NOT NULL,
	"parent_id" text collate "C",
	"created_at" double precision NOT NULL,
	"reason" text NOT NULL,
	"attributes" text NOT NULL,
	"files_node" bigint NOT NULL,
	"conversation_node" bigint NOT NULL,
	"artifacts_node" bigint NOT NULL,
	"file_count" integer NOT NULL,
	"message_count" integer NOT NULL,
	"artifact_count" integer NOT NULL,
	"append_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."interrupts" (
	"interrupt_id" text collate "C" PRIMARY KEY NOT NULL,
	"run_id" text collate "C" NOT NULL,
	"thread_id" text collate "C" NOT NULL,
	"status" text NOT NULL,
	"requested_at" double precision NOT NULL,
	"resolved_at" double precision,
	"payload" text NOT NULL,
	"response" text
);
--> statement-breakpoint
CREATE TABLE "holdfast"."lock_waiters" (
	"waiter" uuid PRIMARY KEY NOT NULL,
	"key" text collate "C" NOT NULL,
	"ticket" bigint GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."lock_waiters_ticket_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"expires_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."locks" (
	"key" text collate "C" PRIMARY KEY NOT NULL,
	"token" bigint NOT NULL,
	"owner" uuid,
	"expires_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."messages" (
	"thread_id" text collate "C" NOT NULL,
	"position" integer NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "messages_pk" PRIMARY KEY("thread_id","position")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."metadata" (
	"namespace" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"value" text NOT NULL,
	CONSTRAINT "metadata_pk" PRIMARY KEY("namespace","key")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."migrations" (
	"version" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"applied_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."run_events" (
	"log_id" bigint NOT NULL,
	"first_seq" bigint NOT NULL,
	"event_count" integer NOT NULL,
	"payload" text NOT NULL,
	CONSTRAINT "run_events_pk" PRIMARY KEY("log_id","first_seq")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."run_logs" (
	"log_id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."run_logs_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" text collate "C" PRIMARY KEY NOT NULL,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"tail" bigint DEFAULT 0 NOT NULL,
	"last_batch" uuid,
	"closed_at" double precision,
	"removed_at" double precision,
	CONSTRAINT "run_logs_log_id_unique" UNIQUE("log_id")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."runs" (
	"run_id" text collate "C" PRIMARY KEY NOT NULL,
	"thread_id" text collate "C" NOT NULL,
	"status" text NOT NULL,
	"started_at" double precision NOT NULL,
	"finished_at" double precision,
	"error" text,
	"usage" text,
	"sandbox_key" text collate "C",
	"detached_since" double precision,
	"cancel_requested" boolean,
	"keep_sandbox" boolean DEFAULT false NOT NULL,
	"driver_epoch" bigint,
	"driver_owner" text,
	"lease_expires_at" double precision,
	"holds_thread" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."sandbox_instances" (
	"key" text collate "C" PRIMARY KEY NOT NULL,
	"provider" text collate "C" NOT NULL,
	"provider_sandbox_id" text collate "C" NOT NULL,
	"latest_snapshot_id" text collate "C",
	"thread_id" text collate "C" NOT NULL,
	"latest_run_id" text collate "C",
	"updated_at" double precision NOT NULL,
	"state" text,
	"labels" text
);
--> statement-breakpoint
CREATE TABLE "holdfast"."threads" (
	"thread_id" text collate "C" PRIMARY KEY NOT NULL,
	"owner_id" text collate "C" NOT NULL,
	"title" text,
	"created_at" double precision NOT NULL,
	"updated_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."transcripts" (
	"thread_id" text collate "C" PRIMARY KEY NOT NULL,
	"saved_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE INDEX "artifacts_by_run" ON "holdfast"."artifacts" USING btree ("run_id","created_at","artifact_id");--> statement-breakpoint
CREATE INDEX "artifacts_by_thread" ON "holdfast"."artifacts" USING btree ("thread_id","created_at","artifact_id");--> statement-breakpoint
CREATE INDEX "artifacts_by_blob" ON "holdfast"."artifacts" USING btree ("blob_key");--> statement-breakpoint
CREATE INDEX "blobs_by_touch" ON "holdfast"."blobs" USING btree ("touched_at");--> statement-breakpoint
CREATE INDEX "blobs_by_upload" ON "holdfast"."blobs" USING btree ("upload_id");--> statement-breakpoint
CREATE INDEX "checkpoint_nodes_by_base" ON "holdfast"."checkpoint_nodes" USING btree ("base_id");--> statement-breakpoint
CREATE INDEX "checkpoint_nodes_by_thread" ON "holdfast"."checkpoint_nodes" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "checkpoints_by_thread" ON "holdfast"."checkpoints" USING btree ("thread_id","created_at","checkpoint_id");--> statement-breakpoint
CREATE INDEX "checkpoints_by_files" ON "holdfast"."checkpoints" USING btree ("files_node");--> statement-breakpoint
CREATE INDEX "checkpoints_by_conversation" ON "holdfast"."checkpoints" USING btree ("conversation_node");--> statement-breakpoint
CREATE INDEX "checkpoints_by_artifacts" ON "holdfast"."checkpoints" USING btree ("artifacts_node");--> statement-breakpoint
CREATE INDEX "interrupts_by_thread" ON "holdfast"."interrupts" USING btree ("thread_id","requested_at","interrupt_id");--> statement-breakpoint
CREATE INDEX "interrupts_by_run" ON "holdfast"."interrupts" USING btree ("run_id","requested_at","interrupt_id");--> statement-breakpoint
CREATE INDEX "lock_waiters_by_key" ON "holdfast"."lock_waiters" USING btree ("key","ticket");--> statement-breakpoint
CREATE INDEX "run_logs_closed" ON "holdfast"."run_logs" USING btree ("closed_at") WHERE "holdfast"."run_logs"."closed_at" is not null and "holdfast"."run_logs"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_thread_holder" ON "holdfast"."runs" USING btree ("thread_id") WHERE "holdfast"."runs"."holds_thread";--> statement-breakpoint
CREATE INDEX "runs_by_thread" ON "holdfast"."runs" USING btree ("thread_id","started_at","run_id");--> statement-breakpoint
CREATE INDEX "runs_by_start" ON "holdfast"."runs" USING btree ("started_at","run_id");--> statement-breakpoint
CREATE INDEX "runs_by_status" ON "holdfast"."runs" USING btree ("status","started_at","run_id");--> statement-breakpoint
CREATE INDEX "runs_lease_end" ON "holdfast"."runs" USING btree ("lease_expires_at","run_id") WHERE "holdfast"."runs"."holds_thread" and "holdfast"."runs"."detached_since" is null;--> statement-breakpoint
CREATE INDEX "runs_detached" ON "holdfast"."runs" USING btree ("detached_since","run_id") WHERE "holdfast"."runs"."status" = 'running' and "holdfast"."runs"."detached_since" is not null;--> statement-breakpoint
CREATE INDEX "runs_running" ON "holdfast"."runs" USING btree ("thread_id","started_at") WHERE "holdfast"."runs"."status" = 'running';--> statement-breakpoint
CREATE INDEX "sandbox_instances_by_age" ON "holdfast"."sandbox_instances" USING btree ("updated_at","key");--> statement-breakpoint
CREATE INDEX "sandbox_instances_by_thread" ON "holdfast"."sandbox_instances" USING btree ("thread_id","updated_at","key");--> statement-breakpoint
CREATE INDEX "threads_by_owner" ON "holdfast"."threads" USING btree ("owner_id","updated_at" DESC NULLS LAST,"thread_id");