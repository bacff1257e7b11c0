/**
 * Tables of a SQLite file, and how a file of an older format becomes one of the
 * newest.
 *
 * **Details**
 *
 * Rows refer to each other by integers. Names of threads are stored once; a
 * run's id is its thread's name and its number there. The events of a run begin
 * alike, so each is kept as the number of UTF-16 units that it shares with the
 * run's first event, and the rest. An event that repeats the usage of its
 * settled run is kept without it: `cut` is where in `rest` it was. What all
 * runs of an agent have in common is one row of `definitions`, which stays.
 * What a run has once it rests or is settled is in `results`: rows that grow
 * would leave their pages half empty.
 *
 * @since 0.1.0
 */

/**
 * What marks a file as one of ours: "MNDT" in the header of the database.
 *
 * @category constants
 * @since 0.1.0
 */
export const applicationId = 0x4d4e4454

/**
 * Steps from each format to the next. The format of a file is the number of
 * steps it has taken. A step that was released never changes.
 *
 * @category constants
 * @since 0.1.0
 */
export const migrations: ReadonlyArray<string> = [
  `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('format', 0), ('epoch', 0);

CREATE TABLE threads (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL DEFAULT '',
  epoch INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  expires_at REAL NOT NULL DEFAULT 0,
  sequence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX threads_holder ON threads (holder);

CREATE TABLE definitions (
  id INTEGER PRIMARY KEY,
  format INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  agent_path TEXT NOT NULL,
  shape TEXT NOT NULL,
  limits TEXT NOT NULL,
  binding TEXT NOT NULL,
  UNIQUE (agent_id, agent_path, shape, limits, binding, format)
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  number INTEGER NOT NULL,
  root INTEGER NOT NULL,
  parent INTEGER,
  parent_thread INTEGER,
  state TEXT NOT NULL,
  ephemeral INTEGER NOT NULL,
  first_event TEXT,
  call_key TEXT,
  tool_call_id TEXT,
  definition INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  depth_left INTEGER NOT NULL,
  budget TEXT NOT NULL,
  input TEXT NOT NULL,
  prompt TEXT NOT NULL,
  active_millis REAL NOT NULL,
  started_at REAL NOT NULL,
  stopped_at REAL,
  UNIQUE (thread, number)
) STRICT;
CREATE INDEX runs_parent ON runs (parent_thread, parent);
CREATE INDEX runs_open ON runs (thread) WHERE parent IS NULL AND state <> 'Settled';

CREATE TABLE results (
  run INTEGER PRIMARY KEY,
  outcome TEXT,
  usage TEXT,
  messages TEXT
) STRICT;

CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (run, key)
) STRICT;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  shared INTEGER NOT NULL,
  rest TEXT NOT NULL,
  cut INTEGER
) STRICT;
CREATE INDEX events_run ON events (run);
`
]

/**
 * The tables and indexes of the newest format, by their names.
 *
 * @category constants
 * @since 0.1.0
 */
export const tables: ReadonlyArray<readonly [kind: string, name: string]> = migrations
  .flatMap((migration) => [...migration.matchAll(/^CREATE (TABLE|INDEX) (\w+)/gm)])
  .map(([, kind, name]) => [kind!.toLowerCase(), name!])
