/** SQL that lets a test move the database's time: what `now_ms` gives is the clock plus one stored number. */
export const MOVABLE_TIME = `
  create table holdfast.test_time (moved_ms double precision not null);
  insert into holdfast.test_time values (0);
  create or replace function holdfast.now_ms() returns double precision language sql volatile as $$
    select floor(extract(epoch from clock_timestamp()) * 1000)::double precision + (select moved_ms from holdfast.test_time)
  $$;
`

export const MOVE_TIME = 'update holdfast.test_time set moved_ms = moved_ms + $1::double precision'

/** Empties every table of the stores and sets the time back. */
export const EMPTY_STORES = `
  do $$ declare name text; begin
    for name in
      select tablename from pg_tables where schemaname = 'holdfast' and tablename not in ('migrations', 'test_time')
    loop
      execute format('delete from holdfast.%I', name);
    end loop;
  end $$;
  update holdfast.test_time set moved_ms = 0;
`
