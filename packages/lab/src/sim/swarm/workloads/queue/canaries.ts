/** The library with one text replaced, which the rules of queues must find. */
import type { Canary } from "../../workload.js";

export const queueCanaries: readonly Canary[] = [
  {
    rule: "Q1",
    what: "a message that comes back is not kept",
    seed: 3,
    change: {
      file: "queues/lua/_queue.lua",
      from: "  redis.call('ZADD', q.again, item.number, member)\n",
      to: "  redis.call('HDEL', q.off, member)\n",
    },
  },
  {
    rule: "Q2",
    what: "a pop gives the message back",
    seed: 8,
    change: {
      file: "deliveries/message-wait.ts",
      from: '{ kind: "ack", result: undefined }',
      to: '{ kind: "return", delayMs: 0, isAttempt: false, reason: undefined }',
    },
  },
  {
    rule: "Q3",
    what: "no ack is late",
    seed: 7,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "        if not ms then\n",
      to: "        if false then\n",
    },
  },
  {
    rule: "Q1",
    what: "a resent ack is late",
    seed: 181,
    change: {
      file: "queues/lua/take.lua",
      from: "if answer then return { answer, due_in(q), newest(q) } end",
      to: "",
    },
  },
  {
    rule: "Q4",
    what: "returned messages come last",
    seed: 32,
    change: {
      file: "queues/lua/_queue.lua",
      from: "if q.returned > 0 then some",
      to: "if q.in_line == 0 then some",
    },
  },
  {
    rule: "Q4",
    what: "lifo takes the oldest",
    seed: 29,
    change: {
      file: "queues/lua/_queue.lua",
      from: "local is_lifo, items = q.order == 'lifo', {}",
      to: "local is_lifo, items = false, {}",
    },
  },
  {
    rule: "Q5",
    what: "a nack deals nothing",
    seed: 2,
    change: { file: "queues/lua/back.lua", from: "\ndeal(q)\n", to: "\n" },
  },
  {
    rule: "Q5",
    what: "what a dead process had stays with it",
    seed: 3,
    change: {
      file: "deliveries/lua/_due.lua",
      from: "local function return_overdue(q)\n",
      to: "local function return_overdue(q)\n  if true then return 0 end\n",
    },
  },
  {
    rule: "Q6",
    what: "a copy of a push is another push",
    seed: 27,
    change: {
      file: "queues/lua/push.lua",
      from: "if answer then return answer end",
      to: "",
    },
  },
  {
    rule: "Q6",
    what: "a dedupe id is kept for 50 ms",
    seed: 2,
    change: { file: "queues/lua/push.lua", from: "'PX', message.keep_ms", to: "'PX', 50" },
  },
  {
    rule: "Q7",
    what: "an outcome tells nobody",
    seed: 34,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "  send(q.results .. number, '', kind)\n",
      to: "",
    },
  },
  {
    rule: "Q7",
    what: "a result is stored for a late ack",
    seed: 1,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "and not (late and late[place / 2 - 1]) then",
      to: "then",
    },
  },
  {
    rule: "Q8",
    what: "one attempt too many",
    seed: 8,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "attempts >= q.max_attempts",
      to: "attempts > q.max_attempts",
    },
  },
  {
    rule: "Q10",
    what: "a cancelled message keeps its turn",
    seed: 22,
    change: {
      file: "queues/lua/cancel.lua",
      from: "  if not place then return 0 end\n",
      to: "  if true then return place and 1 or 0 end\n",
    },
  },
  {
    rule: "Q11",
    what: "nothing tells the first lease of what is dealt",
    seed: 15,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "local deadline = first_deadline(q)",
      to: "local deadline = string.format('%.0f', q.ms + q.first_lease_ms)",
    },
  },
  {
    rule: "Q9",
    what: "the end of a wait gives up no place",
    seed: 52,
    change: {
      file: "deliveries/intake.ts",
      from: "    if (open <= 0 && this.#exchange.mayStand) void this.#exchange.leave();\n",
      to: "",
    },
  },
  {
    rule: "Q12",
    what: "a process gets all suspects",
    seed: 9,
    change: {
      file: "deliveries/lua/_suspects.lua",
      from: "  return not (suspect_of(q, id) and suspects_out(q)[process])\n",
      to: "  return true\n",
    },
  },
  {
    rule: "Q13",
    what: "what nobody has seen has failed",
    seed: 58,
    change: {
      file: "deliveries/delivery.ts",
      from: "delayMs: 0, isAttempt: false, reason: undefined }",
      to: "delayMs: 0, isAttempt: true, reason: undefined }",
    },
  },
  {
    rule: "Q14",
    what: "a full queue drops nothing",
    seed: 3,
    change: {
      file: "queues/lua/push.lua",
      from: "if not drops or missing > 0",
      to: "if drops or missing > 0",
    },
  },
  {
    rule: "Q15",
    what: "no handler begins whose delivery was extended before",
    seed: 53,
    change: {
      file: "deliveries/consumer.ts",
      from: "if (!run.isOver && run.delivery.mayBegin &&",
      to: "if (!run.isOver && !run.delivery.mayBegin &&",
    },
  },
  {
    rule: "Q16",
    what: "no end of a process is the last one",
    seed: 200,
    change: {
      file: "deliveries/lua/_suspects.lua",
      from: "if one.crashes < MOST_CRASHES then",
      to: "if true then",
    },
  },
  {
    rule: "Q17",
    what: "the body of a cancelled message stays",
    seed: 2,
    change: {
      file: "queues/lua/cancel.lua",
      from: "  redis.call('HDEL', q.off, member)\n  return redis.call('ZREM', key, member)",
      to: "  return redis.call('ZREM', key, member)",
    },
  },
];
