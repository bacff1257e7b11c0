/**
 * Operations of a store in words that read on from "could not", for its errors.
 *
 * @since 0.1.0
 */

const onRun = (verb: string) => (runId: string): string => `${verb} the run "${runId}"`
const onThread = (verb: string) => (threadId: string): string => `${verb} the thread "${threadId}"`

/**
 * Words for each operation of a `RunStore`.
 *
 * @category constants
 * @since 0.1.0
 */
export const words = {
  open: onThread("start a run of"),
  create: onThread("start the child run of"),
  load: onRun("read"),
  thread: onThread("read"),
  list: () => "list the threads",
  children: onRun("read the children of"),
  append: onRun("write to the journal of"),
  suspend: onRun("write the suspension of"),
  fail: onRun("write the failure of"),
  settle: onRun("write the outcome of"),
  lease: onThread("take the lease of"),
  isHeld: onThread("read the lease of"),
  reopen: onRun("reopen"),
  answer: onThread("write the answers of"),
  renew: () => "renew the leases of this process",
  release: () => "release the leases of this process",
  seize: onRun("take over"),
  close: onRun("write the end of"),
  forget: onThread("delete"),
  events: onThread("read the events of")
}
