import type { RunStore } from "@mandate/core"

/** A store as a record of its operations, of which some can be replaced. */
export const whole = (store: RunStore.RunStore["Service"]): RunStore.RunStore["Service"] => ({
  open: (...args) => store.open(...args),
  create: (...args) => store.create(...args),
  load: (...args) => store.load(...args),
  thread: (...args) => store.thread(...args),
  list: (...args) => store.list(...args),
  children: (...args) => store.children(...args),
  append: (...args) => store.append(...args),
  suspend: (...args) => store.suspend(...args),
  fail: (...args) => store.fail(...args),
  settle: (...args) => store.settle(...args),
  lease: (...args) => store.lease(...args),
  isHeld: (...args) => store.isHeld(...args),
  reopen: (...args) => store.reopen(...args),
  answer: (...args) => store.answer(...args),
  renew: (...args) => store.renew(...args),
  release: (...args) => store.release(...args),
  seize: (...args) => store.seize(...args),
  close: (...args) => store.close(...args),
  forget: (...args) => store.forget(...args),
  events: (...args) => store.events(...args)
})
