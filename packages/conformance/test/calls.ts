/** Every call of every noun that sends something and waits for nothing but its answer, by the name of its method. */
import type { Holdfast } from "holdfast";

export type Call = (hf: Holdfast) => unknown;

const limit = (hf: Holdfast) => hf.limit("limit", { max: 1, per: "1h" });
const group = (hf: Holdfast) => hf.limits.all([limit(hf).of("a")]);
const guard = (hf: Holdfast) =>
  hf.guard("guard", { hits: 5, per: "1m", penalties: [{ for: "1s", kind: "refuse" }] });
const semaphore = (hf: Holdfast) => hf.semaphore("semaphore", { permits: 2 });
const multi = (hf: Holdfast) => hf.multiLock([hf.mutex("a"), hf.mutex("b")]);
const ID = "1790000000000001";
const TICKET = "1@lane";
const handle = { version: 1, noun: "mutex", name: "m", id: "i", fence: "1", ttlMs: 1_000 };

export const CALLS: Readonly<Record<string, Call>> = {
  "Holdfast.adopt": (hf) => hf.adopt(handle as never),
  "Holdfast.once": (hf) => hf.once("once", () => 1, { keep: "1h" }),
  "Holdfast.script": (hf) =>
    hf.script({ name: "one", source: "return 1", sha1: "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" }, [], []),
  "once.forget": (hf) => hf.once.forget("once"),
  "Locks.adopt": (hf) => hf.locks.adopt(handle as never),
  "Mutex.acquire": (hf) => hf.mutex("mutex").acquire({ wait: 0 }),
  "Mutex.tryAcquire": (hf) => hf.mutex("mutex").tryAcquire(),
  "Mutex.run": (hf) => hf.mutex("mutex").run(() => 1, { wait: 0 }),
  "Semaphore.acquire": (hf) => semaphore(hf).acquire({ wait: 0 }),
  "Semaphore.tryAcquire": (hf) => semaphore(hf).tryAcquire(),
  "Semaphore.run": (hf) => semaphore(hf).run(() => 1, { wait: 0 }),
  "Semaphore.setPermits": (hf) => semaphore(hf).setPermits(3),
  "ReadLock.acquire": (hf) => hf.rwLock("rw").read().acquire({ wait: 0 }),
  "ReadLock.tryAcquire": (hf) => hf.rwLock("rw").read().tryAcquire(),
  "ReadLock.run": (hf) =>
    hf
      .rwLock("rw")
      .read()
      .run(() => 1, { wait: 0 }),
  "WriteLock.acquire": (hf) => hf.rwLock("rw").write().acquire({ wait: 0 }),
  "WriteLock.tryAcquire": (hf) => hf.rwLock("rw").write().tryAcquire(),
  "WriteLock.run": (hf) =>
    hf
      .rwLock("rw")
      .write()
      .run(() => 1, { wait: 0 }),
  "MultiLock.acquire": (hf) => multi(hf).acquire({ wait: 0 }),
  "MultiLock.tryAcquire": (hf) => multi(hf).tryAcquire(),
  "MultiLock.run": (hf) => multi(hf).run(() => 1, { wait: 0 }),
  "Limit.take": (hf) => limit(hf).take("a"),
  "Limit.cell": (hf) => limit(hf).cell("a"),
  "Limit.peek": (hf) => limit(hf).peek("a"),
  "Limit.refund": (hf) => limit(hf).refund("a"),
  "Limit.reserve": (hf) => limit(hf).reserve("a"),
  "Limit.set": (hf) => limit(hf).set("a", 1),
  "Limit.reset": (hf) => limit(hf).reset("a"),
  "LimitGroup.take": (hf) => group(hf).take(),
  "LimitGroup.peek": (hf) => group(hf).peek(),
  "LimitGroup.refund": (hf) => group(hf).refund(),
  "LimitGroup.reset": (hf) => group(hf).reset(),
  "LimitIndex.note": async (hf) => (await hf.limits.index("index")).note([limit(hf).of("a")]),
  "LimitIndex.reset": async (hf) => (await hf.limits.index("index")).reset("limit"),
  "Guard.hit": (hf) => guard(hf).hit("a"),
  "Guard.look": (hf) => guard(hf).look("a"),
  "Guard.pardon": (hf) => guard(hf).pardon("a"),
  "VersionedRecord.get": (hf) => hf.record("record").get(),
  "VersionedRecord.put": (hf) => hf.record("record").put(1),
  "VersionedRecord.delete": (hf) => hf.record("record").delete(),
  "VersionedRecord.update": (hf) => hf.record("record").update(() => 1),
  "Records.getMany": async (hf) => failureIn(await hf.records.getMany(["record"])),
  "Records.putMany": async (hf) => failureIn(await hf.records.putMany([{ name: "record", value: 1 }])),
  "Queue.push": (hf) => hf.queue("queue").push(1),
  "Queue.pushMany": (hf) => hf.queue("queue").pushMany([1, 2]),
  "Queue.pop": (hf) => hf.queue("queue").pop({ wait: 0 }),
  "Queue.receive": (hf) => hf.queue("queue").receive({ wait: 0 }),
  "Queue.result": (hf) => hf.queue("queue").result(ID, { wait: 0 }),
  "Queue.peek": (hf) => hf.queue("queue").peek(),
  "Queue.inFlight": (hf) => hf.queue("queue").inFlight(),
  "Queue.delayed": (hf) => hf.queue("queue").delayed(),
  "Queue.cancel": (hf) => hf.queue("queue").cancel(ID),
  "Queue.state": (hf) => hf.queue("queue").state(),
  "Queue.pause": (hf) => hf.queue("queue").pause(),
  "Queue.resume": (hf) => hf.queue("queue").resume(),
  "Queue.drain": (hf) => hf.queue("queue").drain(),
  "Queue.dead": (hf) => hf.queue("queue").dead(),
  "Queue.redrive": (hf) => hf.queue("queue").redrive([ID]),
  "Queue.reset": (hf) => hf.queue("queue").reset(),
  "Lanes.push": (hf) => hf.lanes("lanes").push("lane", 1),
  "Lanes.pushMany": (hf) => hf.lanes("lanes").pushMany([{ lane: "lane", body: 1 }]),
  "Lanes.receive": (hf) => hf.lanes("lanes").receive({ wait: 0 }),
  "Lanes.position": (hf) => hf.lanes("lanes").position(TICKET),
  "Lanes.result": (hf) => hf.lanes("lanes").result(TICKET, { wait: 0 }),
  "Lanes.cancel": (hf) => hf.lanes("lanes").cancel(TICKET),
  "Lanes.peek": (hf) => hf.lanes("lanes").peek("lane"),
  "Lanes.inFlight": (hf) => hf.lanes("lanes").inFlight(),
  "Lanes.state": (hf) => hf.lanes("lanes").state(),
  "Lanes.lane": (hf) => hf.lanes("lanes").lane("lane"),
  "Lanes.list": (hf) => hf.lanes("lanes").list().next(),
  "Lanes.pause": (hf) => hf.lanes("lanes").pause("lane"),
  "Lanes.resume": (hf) => hf.lanes("lanes").resume("lane"),
  "Lanes.limit": (hf) => hf.lanes("lanes").limit("lane", { inFlight: 2 }),
  "Lanes.drain": (hf) => hf.lanes("lanes").drain("lane"),
  "Lanes.dead": (hf) => hf.lanes("lanes").dead(),
  "Lanes.redrive": (hf) => hf.lanes("lanes").redrive([TICKET]),
  "Lanes.reset": (hf) => hf.lanes("lanes").reset(),
  "Signal.emit": (hf) => hf.signal("signal").emit(),
  "Signal.emitOne": (hf) => hf.signal("signal").emitOne(),
  "Signal.poll": (hf) => hf.signal("signal").poll(),
  "Signal.listen": (hf) => hf.signal("signal").listen(),
  "SharedEvent.set": (hf) => hf.event("event").set(),
  "SharedEvent.clear": (hf) => hf.event("event").clear(),
  "SharedEvent.get": (hf) => hf.event("event").get(),
  "SharedEvent.wait": (hf) => hf.event("event").wait({ wait: 0 }),
  "SharedEvent.delete": (hf) => hf.event("event").delete(),
  "Latch.countDown": (hf) => hf.latch("latch", 2).countDown(),
  "Latch.count": (hf) => hf.latch("latch", 2).count(),
  "Latch.wait": (hf) => hf.latch("latch", 2).wait({ wait: 0 }),
  "Latch.reset": (hf) => hf.latch("latch", 2).reset(),
  "Latch.delete": (hf) => hf.latch("latch", 2).delete(),
  "Barrier.wait": (hf) => hf.barrier("barrier", 2).wait({ wait: 0 }),
  "Barrier.get": (hf) => hf.barrier("barrier", 2).get(),
  "Barrier.delete": (hf) => hf.barrier("barrier", 2).delete(),
  "Election.campaign": (hf) => hf.election("election").campaign({ wait: 0 }),
  "Election.leader": (hf) => hf.election("election").leader(),
  "Election.candidates": (hf) => hf.election("election").candidates(),
};

/** Of many, each outcome has an error of its own. */
function failureIn(outcomes: readonly object[]): Promise<never> {
  return Promise.reject((outcomes[0] as { readonly error?: unknown }).error);
}
