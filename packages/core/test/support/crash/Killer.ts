import { Worker } from "node:worker_threads"

/** Ends this process as a crash would: nothing of it runs any more. */
export const kill = (): void => {
  process.kill(process.pid, "SIGKILL")
}

/**
 * Prepares a thread that kills this process so many milliseconds after it is told to begin. A thread of its own also
 * strikes while the process is in the middle of a write, which a timer never does.
 */
export const after = (millis: number): Promise<{ readonly begin: () => void }> =>
  new Promise((resolve) => {
    const gate = new Int32Array(new SharedArrayBuffer(8))
    const worker = new Worker(waiting, { eval: true, workerData: { gate, millis } })
    worker.once("message", () =>
      resolve({
        begin: () => {
          Atomics.store(gate, 0, 1)
          Atomics.notify(gate, 0)
        }
      }))
  })

const waiting = `
const { parentPort, workerData: { gate, millis } } = require("node:worker_threads")
parentPort.postMessage("waiting")
Atomics.wait(gate, 0, 0)
Atomics.wait(gate, 1, 0, millis)
process.kill(process.pid, "SIGKILL")
`
