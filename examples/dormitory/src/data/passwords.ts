/** Passwords: scrypt with a salt for each, and the passwords of the seed data. */
import { createHmac, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** For accounts of real people: some 60 ms and 32 MiB for each try. */
const REAL_COST: Cost = { N: 2 ** 15, r: 8, p: 1 };
/**
 * For the accounts of the seed data, which are no secret: the start prints them. 4,000 hashes at the real cost take minutes,
 * and 4,000 students who sign in at the same time do so once more.
 */
export const DEMO_COST: Cost = { N: 2 ** 8, r: 8, p: 1 };

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const MOST_MEMORY = 128 * 2 ** 20;

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: MOST_MEMORY };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** `scrypt$N$r$p$salt$key`, salt and key in base64. */
export async function hashPassword(password: string, cost: Cost = REAL_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64"), key.toString("base64")].join("$");
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [kind, N, r, p, salt, key] = hash.split("$");
  if (kind !== "scrypt" || salt === undefined || key === undefined) return false;
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  return timingSafeEqual(
    await derive(password, Buffer.from(salt, "base64"), cost),
    Buffer.from(key, "base64"),
  );
}

const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH = 10;

/** The password of a seeded account: the same for the same seed. */
export function passwordOf(seed: string, number: string): string {
  const bytes = createHmac("sha256", `dormitory:${seed}`).update(number).digest();
  return Array.from(bytes.subarray(0, LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join("");
}
