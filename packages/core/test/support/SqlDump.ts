/** SQLite files as texts that a person can read and a change can be seen in. */
import { DatabaseSync } from "node:sqlite"

/** Statements that make the database of a file: its tables, then their rows, one a line where their texts are. */
export const dump = (filename: string): string => {
  const db = new DatabaseSync(filename, { readOnly: true })
  const all = (query: string) => db.prepare(query).all().map((row) => Object.values(row).map(String))
  const mark = all("PRAGMA application_id")[0]![0]!
  const schema = all("SELECT sql, name, type FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
  const rows = schema.filter(([, , type]) => type === "table").flatMap(([, name]) => {
    const columns = all(`SELECT name FROM pragma_table_info('${name}')`).flat()
    const values = columns.map((column) => `quote(${column})`).join(" || ', ' || ")
    return [
      "",
      ...all(`SELECT ${values} FROM ${name} ORDER BY ${columns[0]}`).map(([row]) =>
        `INSERT INTO ${name} VALUES (${row});`
      )
    ]
  })
  db.close()
  return [`PRAGMA application_id = ${mark};`, "", ...schema.map(([sql]) => `${sql};`), ...rows, ""].join("\n")
}

/** Makes a file of a dump. */
export const load = (filename: string, sql: string): void => {
  const db = new DatabaseSync(filename)
  db.exec(`BEGIN; ${sql} COMMIT`)
  db.close()
}
