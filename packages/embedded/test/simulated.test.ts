import {
  compileValkey,
  NotRunningError,
  SimulatedValkey,
  type SimulatedValkeyOptions,
} from "@holdfast/embedded";
import { describe, expect, it } from "vitest";
import { CoreClient } from "./resp.js";

const startUs = 1_800_000_000_000_000;

async function simulated(options: Partial<SimulatedValkeyOptions> = {}) {
  const time = { us: startUs };
  const module = await compileValkey();
  const node = new SimulatedValkey({ module, trueUs: () => time.us, ...options });
  const pass = (ms: number): void => {
    time.us += ms * 1000;
  };
  return { node, pass };
}

function timeOf(client: CoreClient): number {
  const [seconds, micros] = client.call("TIME") as [string, string];
  return Number(seconds) * 1_000_000 + Number(micros);
}

describe("a simulated node", () => {
  it("reads its own wall clock: an offset, a step, a rate", async () => {
    const { node, pass } = await simulated({ offsetMs: 5_000 });
    const client = new CoreClient(node);
    expect(timeOf(client)).toBe(startUs + 5_000_000);
    client.call("SET", "lease", "mine", "PX", 30_000);
    node.clock.step(-3_600_000);
    expect(client.call("PTTL", "lease")).toBe(3_630_000);
    node.clock.step(3_600_000 + 31_000);
    expect(client.call("GET", "lease")).toBe(null);
    node.clock.rate = 2;
    const beforeUs = timeOf(client);
    pass(1_000);
    expect(timeOf(client)).toBe(beforeUs + 2_000_000);
    node.clock.rate = 0.5;
    pass(1_000);
    expect(timeOf(client)).toBe(beforeUs + 2_500_000);
    expect(node.clock.errorMs).toBe(5_000 + 31_000 + 500);
  });

  it("paused, answers what waited when it goes on", async () => {
    const { node, pass } = await simulated();
    const client = new CoreClient(node);
    client.call("SET", "lease", "mine", "PX", 1_000);
    node.pause();
    expect(client.call("GET", "lease")).toBeUndefined();
    pass(2_000);
    node.resume();
    expect(client.replies).toEqual([null]);
  });

  it("crashes, and comes back empty or with its disk", async () => {
    const config = "appendonly yes\nappendfsync always\n";
    const { node, pass } = await simulated({ config });
    const client = new CoreClient(node);
    client.call("SET", "kept", "1");
    node.crash();
    expect(node.state).toBe("crashed");
    expect(client.isClosed).toBe(true);
    expect(() => node.connect(client)).toThrow(NotRunningError);
    pass(1_000);
    node.restart({ keep: "files" });
    expect(new CoreClient(node).call("GET", "kept")).toBe("1");
    node.restart();
    expect(new CoreClient(node).call("GET", "kept")).toBe(null);
  });

  it("rolls back to what it was, and tells its clients to go", async () => {
    const { node, pass } = await simulated();
    const client = new CoreClient(node);
    client.call("SET", "token", "1");
    node.remember();
    pass(500);
    client.call("SET", "token", "2");
    expect(() => node.rollback(600)).toThrow(RangeError);
    pass(500);
    node.rollback(800);
    expect(client.isClosed).toBe(true);
    expect(new CoreClient(node).call("GET", "token")).toBe("1");
  });

  it("is replaced by a lagging replica with another clock", async () => {
    const { node, pass } = await simulated();
    const replica = node.remember();
    pass(100);
    new CoreClient(node).call("SET", "lost", "1");
    node.promote(replica, { offsetMs: -20_000 });
    const client = new CoreClient(node);
    expect(client.call("GET", "lost")).toBe(null);
    expect(timeOf(client)).toBe(startUs + 100_000 - 20_000_000);
  });

  it("lets a script that never ends be killed by what comes in meanwhile", async () => {
    const killer: { client?: CoreClient; sent?: boolean } = {};
    const { node } = await simulated({
      longScriptReads: 500,
      onBusy: () => {
        if (killer.sent) return;
        killer.sent = true;
        killer.client?.send("PING");
        killer.client?.send("SCRIPT", "KILL");
      },
    });
    const client = new CoreClient(node);
    killer.client = new CoreClient(node);
    node.pump();
    const reply = client.call("EVAL", "while true do end", 0);
    expect(reply).toBeInstanceOf(Error);
    expect(String(reply)).toContain("killed by user");
    expect(String(killer.client.replies[0])).toContain("BUSY");
    expect(node.clock.busyMs).toBeGreaterThan(4_900);
  });

  it("one seed, the same run id; another seed, another", async () => {
    const runId = async (seed: number) => {
      const { node } = await simulated({ seed });
      return /run_id:(\w+)/.exec(new CoreClient(node).call("INFO", "server") as string)?.[1];
    };
    const first = await runId(1);
    expect(first).toMatch(/^\w{40}$/);
    expect(await runId(1)).toBe(first);
    expect(await runId(2)).not.toBe(first);
  });
});
