/**
 * Prepared statements of a SQLite file.
 *
 * @since 0.1.0
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { Record } from "../service/RunRow.ts"
import { positional } from "./SqliteParameters.ts"
import type { Place, StoredEvent, StoredRun, StoredThread, ThreadRow } from "./SqliteRows.ts"

/**
 * Prepared statements, each a function of its parameters.
 *
 * @category models
 * @since 0.1.0
 */
export type SqliteStatements = ReturnType<typeof make>

/**
 * Prepares the statements of a connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (db: DatabaseSync) => {
  const prepare = (query: string) => {
    const { sql, values } = positional(query)
    return { statement: db.prepare(sql), values }
  }
  const write = (sql: string) => {
    const { statement, values } = prepare(sql)
    return (...given: Array<SQLInputValue>) => statement.run(...values(given))
  }
  // What a query gives is known from its text alone.
  const one = <Row>(sql: string) => {
    const { statement, values } = prepare(sql)
    return (...given: Array<SQLInputValue>) => statement.get(...values(given)) as unknown as Row | undefined
  }
  const all = <Row>(sql: string) => {
    const { statement, values } = prepare(sql)
    return (...given: Array<SQLInputValue>) => statement.all(...values(given)) as unknown as ReadonlyArray<Row>
  }
  return {
    thread: one<ThreadRow>("SELECT id, tenant, epoch, holder, expires_at AS expiresAt FROM threads WHERE name = ?"),
    insertThread: write("INSERT INTO threads (name, tenant, holder, expires_at, epoch) VALUES (?, ?, ?, ?, ?)"),
    setTenant: write("UPDATE threads SET tenant = ? WHERE id = ?"),
    lastEpoch: one<{ value: number }>("SELECT value FROM meta WHERE key = 'epoch'"),
    setEpoch: write("UPDATE meta SET value = ? WHERE key = 'epoch'"),
    take: write("UPDATE threads SET holder = ?, expires_at = ?, epoch = ? WHERE id = ?"),
    letGo: write("UPDATE threads SET holder = NULL WHERE id = ?"),
    renew: write("UPDATE threads SET expires_at = ? WHERE holder = ?"),
    release: write("UPDATE threads SET holder = NULL WHERE holder = ?"),
    place: one<Place>(place),
    held: one<{ sequence: number }>(held),
    run: one<StoredRun>(`${selectRun} WHERE ${isRun}`),
    lastRun: one<StoredRun>(
      `${selectRun} WHERE r.id = (SELECT id FROM runs WHERE thread = ? ORDER BY number DESC LIMIT 1)`
    ),
    runsOf: all<StoredRun>(
      `${selectRun} WHERE r.thread = (SELECT id FROM threads WHERE name = ?) ORDER BY r.number`
    ),
    children: all<StoredRun>(`${selectRun} WHERE r.parent_thread = ? AND r.parent = ? ORDER BY r.id`),
    openChildren: all<StoredRun>(
      `${selectRun} WHERE r.parent_thread = ? AND r.parent = ? AND r.state <> 'Settled' ORDER BY r.id`
    ),
    list: all<StoredThread>(`${listed} ${listedWhere} ${listedOrder}`),
    listOpen: all<StoredThread>(`${listed} ${listedWhere} AND r.state <> 'Settled' ${listedOrder}`),
    definition: one<{ id: number }>(`
SELECT id FROM definitions
WHERE agent_id = ? AND agent_path = ? AND shape = ? AND limits = ? AND binding = ? AND format = ?`),
    insertDefinition: write(
      "INSERT INTO definitions (agent_id, agent_path, shape, limits, binding, format) VALUES (?, ?, ?, ?, ?, ?)"
    ),
    insertRun: write(insertRun),
    stop: write("UPDATE runs SET state = ?, active_millis = ?, stopped_at = ? WHERE id = ?"),
    rest: write(rest),
    running: write("UPDATE runs SET state = 'Running', stopped_at = NULL WHERE id = ?"),
    clearOutcome: write("UPDATE results SET outcome = NULL WHERE run = ?"),
    settle: write("INSERT OR REPLACE INTO results (run, outcome, usage, messages) VALUES (?, ?, ?, ?)"),
    records: all<Record>("SELECT key, json FROM records WHERE run = ? ORDER BY id"),
    record: one<{ id: number }>("SELECT id FROM records WHERE run = ? AND key = ?"),
    insertRecord: write("INSERT INTO records (run, key, json) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    deleteRecords: write("DELETE FROM records WHERE run = ?"),
    sequence: one<{ sequence: number }>("SELECT sequence FROM threads WHERE id = ?"),
    setSequence: write("UPDATE threads SET sequence = ? WHERE id = ?"),
    insertEvent: write("INSERT INTO events (run, sequence, shared, rest, cut) VALUES (?, ?, ?, ?, ?)"),
    events: all<StoredEvent>(events),
    childCount: one<{ count: number }>("SELECT count(*) AS count FROM runs WHERE parent_thread = ?"),
    prunable: all<{ thread: number }>(prunable),
    unheard: one<{ run: number }>(unheard),
    below: all<{ thread: number }>(below),
    heldBelow: all<{ thread: number }>(heldBelow),
    deleteRecordsOf: write("DELETE FROM records WHERE run IN (SELECT id FROM runs WHERE thread = ?)"),
    deleteEventsOf: write("DELETE FROM events WHERE run IN (SELECT id FROM runs WHERE thread = ?)"),
    deleteResultsOf: write("DELETE FROM results WHERE run IN (SELECT id FROM runs WHERE thread = ?)"),
    deleteRunsOf: write("DELETE FROM runs WHERE thread = ?"),
    deleteThread: write("DELETE FROM threads WHERE id = ?")
  }
}

// Scalar queries and no joins: with some conditions, joins above all, SQLite prepares a statement again each time its
// parameters are bound, which takes ten times longer than running it.
const placeColumns = `
r.id, r.thread, r.root, r.state, r.ephemeral, r.first_event AS firstEvent,
(SELECT epoch FROM threads WHERE id = r.thread) AS epoch,
(SELECT sequence FROM threads WHERE id = r.root) AS sequence`

const isRun = "r.thread = (SELECT id FROM threads WHERE name = ?) AND r.number = ?"

const place = `SELECT ${placeColumns} FROM runs r WHERE ${isRun}`

const held = `
SELECT (SELECT sequence FROM threads WHERE id = r.root) AS sequence
FROM runs r
WHERE r.id = ? AND r.thread = ? AND r.state <> 'Settled' AND (SELECT epoch FROM threads WHERE id = r.thread) = ?`

const selectRun = `
SELECT ${placeColumns},
  (SELECT name FROM threads WHERE id = r.thread) AS threadId, r.number,
  (SELECT name FROM threads WHERE id = r.root) AS rootThreadId,
  (SELECT name FROM threads WHERE id = r.parent_thread) AS parentThreadId,
  (SELECT number FROM runs WHERE id = r.parent) AS parentNumber,
  (SELECT tenant FROM threads WHERE id = r.thread) AS tenant,
  (SELECT format FROM definitions WHERE id = r.definition) AS format,
  (SELECT agent_id FROM definitions WHERE id = r.definition) AS agentId,
  (SELECT agent_path FROM definitions WHERE id = r.definition) AS agentPath,
  (SELECT shape FROM definitions WHERE id = r.definition) AS shape,
  (SELECT limits FROM definitions WHERE id = r.definition) AS limits,
  (SELECT binding FROM definitions WHERE id = r.definition) AS binding,
  (SELECT outcome FROM results WHERE run = r.id) AS outcome,
  (SELECT usage FROM results WHERE run = r.id) AS usage,
  (SELECT messages FROM results WHERE run = r.id) AS messages,
  r.call_key AS callKey, r.tool_call_id AS toolCallId, r.depth, r.depth_left AS depthLeft, r.budget, r.input, r.prompt,
  r.active_millis AS activeMillis, r.started_at AS startedAt, r.stopped_at AS stoppedAt
FROM runs r`

const listed = `
SELECT t.name AS threadId, t.tenant, r.number, d.agent_id AS agentId, d.shape, r.state, r.started_at AS startedAt,
  r.stopped_at AS stoppedAt, t.holder, t.expires_at AS expiresAt
FROM runs r JOIN threads t ON t.id = r.thread JOIN definitions d ON d.id = r.definition`

const listedWhere = `
WHERE r.parent IS NULL AND t.name > ?1 AND r.number = (SELECT max(number) FROM runs WHERE thread = r.thread)
  AND (?2 IS NULL OR instr(?2, '|' || r.state || '|') > 0) AND (?3 IS NULL OR t.tenant = ?3)
  AND (?4 IS NULL OR d.agent_id = ?4) AND (?5 IS NULL OR t.holder IS NULL OR t.expires_at <= ?5)
  AND (?6 IS NULL OR r.stopped_at < ?6)`

const listedOrder = "ORDER BY t.name LIMIT ?7"

const insertRun = `
INSERT INTO runs (thread, number, root, parent, parent_thread, state, ephemeral, first_event, call_key, tool_call_id,
  definition, depth, depth_left, budget, input, prompt, started_at, active_millis)
VALUES (?, ?, ?, ?, ?, 'Running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`

const rest = `
INSERT INTO results (run, outcome, usage) VALUES (?1, ?2, ?3)
ON CONFLICT (run) DO UPDATE SET outcome = ?2, usage = ?3`

const below = `
WITH RECURSIVE below (thread) AS (
  VALUES (?1) UNION SELECT r.thread FROM runs r JOIN below ON r.parent_thread = below.thread
)
SELECT thread FROM below`

const heldBelow = `${below} WHERE thread <> ?1 AND (SELECT holder FROM threads WHERE id = thread) = ?2`

const events = `
WITH RECURSIVE below (thread) AS (
  SELECT id FROM threads WHERE name = ?1
  UNION SELECT r.thread FROM runs r JOIN below ON r.parent_thread = below.thread
)
SELECT e.sequence, e.shared, e.rest, e.cut, r.first_event AS firstEvent, 
  iif(e.cut IS NULL, NULL, (SELECT usage FROM results WHERE run = r.id)) AS usage
FROM below JOIN runs r ON r.thread = below.thread JOIN threads root ON root.id = r.root AND root.name = ?1
  JOIN events e ON e.run = r.id AND e.sequence > ?2
ORDER BY e.sequence`

// A settled child whose result its parent has not recorded, of a run or of a suspended one below it.
const unheard = `
WITH RECURSIVE waiting (run, thread) AS (
  VALUES (?1, ?2)
  UNION SELECT c.id, c.thread FROM runs c JOIN waiting w ON c.parent_thread = w.thread AND c.parent = w.run
    WHERE c.state = 'Suspended'
)
SELECT c.id AS run FROM runs c JOIN waiting w ON c.parent_thread = w.thread AND c.parent = w.run
WHERE c.state = 'Settled' AND NOT EXISTS (SELECT 1 FROM records WHERE run = w.run AND key = ?3 || c.call_key) LIMIT 1`

// Settled children of a thread's runs whose result nobody needs to read again, newest first, without the newest ones.
const prunable = `
SELECT c.thread
FROM runs c JOIN runs p ON p.id = c.parent
WHERE c.parent_thread = ?1 AND c.state = 'Settled' AND (p.state = 'Settled' OR
  EXISTS (SELECT 1 FROM records WHERE run = p.id AND key = ?2 || c.call_key))
ORDER BY c.parent DESC, c.id DESC LIMIT -1 OFFSET ?3`
