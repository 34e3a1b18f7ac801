/**
 * Corrections to the verified engine. Each puts as many bytes into the place of others, so that nothing else in the file moves.
 */

interface Correction {
  readonly at: number;
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Between the two ends of `pollBegins`: loads the address of the list to be filled. */
const loads = [0x41, 0x00, 0x28, 0x02, 0xb4, 0xf4, 0xe3, 0x80, 0x00, 0x21, 0x09];

/**
 * Where its poll begins to look for sockets. Each pass walks the table of descriptors from 0 to the highest one in use. Sockets start at
 * 4096 (host.ts), so the first 4,096 rows are always looked at in vain, which is over half of the time a pass takes:
 *
 *   row offset = 0             ->  row offset = 4096 rows of 16 bytes
 *   descriptor = -1            ->  descriptor = 4095 (the loop counts up first)
 *   found = 0 (its value yet)  ->  nothing, which makes room for the longer numbers
 */
const pollBegins: Correction = {
  at: 46_952,
  before: [0x41, 0x00, 0x21, 0x08, ...loads, 0x41, 0x7f, 0x21, 0x04, 0x41, 0x00, 0x21, 0x0a, 0x03, 0x40],
  after: [0x41, 0x80, 0x80, 0x04, 0x21, 0x08, ...loads, 0x41, 0xff, 0x1f, 0x21, 0x04, 0x01, 0x03, 0x40],
};

const NOP = 0x01;

/**
 * How redis.acl_check_cmd() lets go of the user that it asked about. Valkey declares the function as one that returns nothing, and it
 * returns a number; a CPU passes over that, and WebAssembly traps:
 *
 *   call the function at 1689340, as (i32) -> nothing   ->  call function 2269, VM_FreeModuleUser, and drop its number
 */
const userIsFreed = (at: number): Correction => ({
  at,
  before: [
    ...[0x41, 0x00, 0x28, 0x02, 0xfc, 0x8d, 0xe7, 0x80, 0x00],
    ...[0x11, 0x81, 0x80, 0x80, 0x80, 0x00, 0x80, 0x80, 0x80, 0x80, 0x00],
  ],
  after: [0x10, 0xdd, 0x91, 0x80, 0x80, 0x00, 0x1a, ...Array<number>(13).fill(NOP)],
});

const corrections: readonly Correction[] = [pollBegins, userIsFreed(0x0f683f), userIsFreed(0x0f69b0)];

/** Changes the bytes in place. Only for the build whose checksum module.ts knows. */
export function correct(engine: Uint8Array): void {
  for (const { at, before, after } of corrections) {
    const isExpected = before.every((byte, i) => engine[at + i] === byte);
    if (!isExpected || after.length !== before.length)
      throw new Error("This place of another build is elsewhere.");
    engine.set(after, at);
  }
}
