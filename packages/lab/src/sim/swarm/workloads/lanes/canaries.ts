/** The library with one text replaced, which the rules of lanes must find. */
import type { Canary } from "../../workload.js";

export const laneCanaries: readonly Canary[] = [
  {
    rule: "N1",
    what: "what came back is served last",
    seed: 7,
    change: {
      file: "lanes/lua/_lanes.lua",
      from: "  local item = pop_returned(q, rec)\n",
      to: "  local item = length_of(q, rec) == 0 and pop_returned(q, rec) or nil\n",
    },
  },
  {
    rule: "N2",
    what: "one more in flight than allowed",
    seed: 2,
    change: {
      file: "lanes/lua/_rec.lua",
      from: "q.in_flight, q.when_failed, q.max_attempts = tonumber(in_flight)",
      to: "q.in_flight, q.when_failed, q.max_attempts = tonumber(in_flight) + 1",
    },
  },
  {
    rule: "N3",
    what: "what is in flight is not ahead",
    seed: 35,
    change: {
      file: "lanes/lua/places.lua",
      from: "before + rec.out_count + rec.later",
      to: "before",
    },
  },
  {
    rule: "N4",
    what: "a cancelled message keeps its turn",
    seed: 1,
    change: {
      file: "lanes/lua/cancel.lua",
      from: "  if redis.call('ZADD', q.cancelled, 0, name .. ' ' .. number) == 1 then",
      to: "  if false then",
    },
  },
  {
    rule: "N5",
    what: "a lane stays at the head",
    seed: 12,
    change: {
      file: "lanes/lua/_lanes.lua",
      from: "redis.call('RPUSH', q.ready,",
      to: "redis.call('LPUSH', q.ready,",
    },
  },
  {
    rule: "N5",
    what: "a return deals nothing",
    seed: 1,
    change: { file: "lanes/lua/back.lua", from: "\ndeal(q)\n", to: "\n" },
  },
  {
    rule: "N6",
    what: "a message that comes back is not kept",
    seed: 1,
    change: {
      file: "lanes/lua/_lanes.lua",
      from: "  redis.call('HSET', q.off, field, item.body)\n",
      to: "",
    },
  },
  {
    rule: "N6",
    what: "no ack is late",
    seed: 6,
    change: {
      file: "deliveries/lua/_deliveries.lua",
      from: "        if not ms then\n",
      to: "        if false then\n",
    },
  },
  {
    rule: "N7",
    what: "the record of an empty lane stays",
    seed: 1,
    change: {
      file: "lanes/lua/_lanes.lua",
      from: "    if is_over(q, rec) then\n",
      to: "    if is_over(q, rec) and q.last == 0 then\n",
    },
  },
  {
    rule: "N9",
    what: "a delivery does not count for the rate",
    seed: 6,
    change: {
      file: "lanes/lua/_lanes.lua",
      from: "if q.rate > 0 then rec.tat, rec.is_long",
      to: "if false then rec.tat, rec.is_long",
    },
  },
  {
    rule: "N8",
    what: "every gift counts for the newest places",
    seed: 296,
    change: {
      file: "deliveries/standing.ts",
      from: "if (token > this.#newestToken) this.#atMost",
      to: "this.#atMost",
    },
  },
  {
    rule: "N8",
    what: "the end of a wait gives up no place",
    seed: 104,
    change: {
      file: "deliveries/intake.ts",
      from: "    if (open <= 0 && this.#exchange.mayStand) void this.#exchange.leave();\n",
      to: "",
    },
  },
  {
    rule: "N10",
    what: "what nobody has seen has failed",
    seed: 20,
    change: {
      file: "deliveries/delivery.ts",
      from: "delayMs: 0, isAttempt: false, reason: undefined }",
      to: 'delayMs: 0, isAttempt: true, reason: "unseen" }',
    },
  },
  {
    rule: "N11",
    what: "no end of a process is the last one",
    seed: 1,
    change: {
      file: "deliveries/lua/_suspects.lua",
      from: "if one.crashes < MOST_CRASHES then",
      to: "if true then",
    },
  },
  {
    rule: "N12",
    what: "the body of a cancelled message stays",
    seed: 3,
    change: {
      file: "lanes/lua/cancel.lua",
      from: "      redis.call('HDEL', q.off, field)\n",
      to: "",
    },
  },
];
