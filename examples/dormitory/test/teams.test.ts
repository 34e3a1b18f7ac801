import { until } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { inCanonicalOrder } from "../src/domain/order.js";
import { MOST_INVITATIONS } from "../src/domain/team.js";
import type { OpenDormitory } from "../src/state/dormitory.js";
import { type Faculty, openFaculty } from "./faculty.js";

async function planned(): Promise<
  Faculty & { readonly dormitory: OpenDormitory; readonly alone: readonly string[] }
> {
  const faculty = await openFaculty({ way: "locks", students: 40, processes: 2, startsInMs: 60_000 });
  const alone = faculty.batch.teams
    .filter(({ members }) => members.length === 1)
    .map(({ members }) => members[0] as string);
  return { ...faculty, dormitory: faculty.processes[0] as OpenDormitory, alone };
}

test("accepting one invitation refuses all others on both sides", async () => {
  const { dormitory, alone, student } = await planned();
  const [ann, bob, cem, dot] = alone.slice(0, 4).map(student) as [never, never, never, never];
  const { teams } = dormitory;
  for (const [from, to] of [
    [ann, bob],
    [ann, cem],
    [dot, bob],
    [bob, dot],
  ] as const)
    expect(await teams.invite(from, (to as { id: string }).id)).toEqual({ ok: true });
  expect(await teams.invite(ann, (bob as { id: string }).id)).toEqual({
    ok: false,
    reason: "invited-already",
  });
  const received = (await teams.of(bob))?.received ?? [];
  expect(received).toHaveLength(2);
  const fromAnn = received.find(({ from }) => from.id === (ann as { id: string }).id);

  expect(await teams.accept(cem, fromAnn?.id ?? "")).toEqual({ ok: false, reason: "no-such-invitation" });
  expect(await teams.accept(bob, fromAnn?.id ?? "")).toEqual({ ok: true });
  const views = await Promise.all([ann, bob, cem, dot].map((one) => teams.of(one)));
  for (const view of views) expect([...(view?.received ?? []), ...(view?.sent ?? [])]).toEqual([]);
  expect(views[0]?.members.map(({ id }) => id)).toEqual(alone.slice(0, 2).sort());
  expect(views[1]?.id).toBe(views[0]?.id);

  expect(await teams.leave(ann)).toEqual({ ok: true });
  expect((await teams.of(bob))?.members).toHaveLength(1);
  expect(await teams.leave(ann)).toEqual({ ok: false, reason: "not-in-a-team" });
});

test("two who accept each other at the same time become one team", async () => {
  const { processes, alone, student } = await planned();
  const [one, other] = processes as [OpenDormitory, OpenDormitory];
  const [ann, bob] = alone.slice(0, 2).map(student) as [never, never];
  await one.teams.invite(ann, alone[1] as string);
  await other.teams.invite(bob, alone[0] as string);
  const toBob = (await one.teams.of(bob))?.received[0]?.id ?? "";
  const toAnn = (await one.teams.of(ann))?.received[0]?.id ?? "";
  const results = await Promise.all([one.teams.accept(bob, toBob), other.teams.accept(ann, toAnn)]);
  expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  const [first, second] = await Promise.all([one.teams.of(ann), one.teams.of(bob)]);
  expect(first?.id).toBe(second?.id);
  expect(first?.members).toHaveLength(2);
});

test("a stale change of the wishes is refused, and says who was quicker", async () => {
  const { dormitory, batch, student } = await planned();
  const pair = batch.teams.find(({ members }) => members.length > 1)?.members ?? [];
  const [ann, bob] = pair.map(student) as [never, never];
  const [one, other, third] = batch.rooms.map(({ id }) => id) as [string, string, string];
  const version = (await dormitory.teams.of(ann))?.wishes.version ?? "";

  const first = await dormitory.teams.setWishes(ann, [one, other], version);
  expect(first.ok).toBe(true);
  expect(await dormitory.teams.setWishes(bob, [third], version)).toMatchObject({
    ok: false,
    reason: "stale",
    current: { roomIds: [one, other], by: { id: pair[0] }, version: first.ok ? first.version : "" },
  });
  expect(await dormitory.teams.setWishes(bob, [third, third], version)).toMatchObject({ reason: "twice" });
  expect(await dormitory.teams.setWishes(bob, ["of-another-batch"], version)).toMatchObject({
    reason: "no-such-room",
  });
});

test("the wishes of a team are written under the lock of the student", async () => {
  const { dormitory, batch, student } = await planned();
  const number = batch.students[0]?.number ?? "";
  const ann = student(number);
  const [lock = ""] = inCanonicalOrder(batch.id, { members: [number], rooms: [] });
  const joining = await dormitory.hf.mutex(lock).acquire();
  const version = (await dormitory.teams.of(ann))?.wishes.version ?? "";
  const writing = dormitory.teams.setWishes(ann, [batch.rooms[0]?.id ?? ""], version);
  const inspector = await dormitory.hf.inspector();
  await until("it stands in line", async () => (await inspector.lock(lock)).waiting === 1);
  expect((await dormitory.teams.of(ann))?.wishes.version).toBe(version);
  await joining.release();
  expect(await writing).toMatchObject({ ok: true });
});

test("two members who invite at once do not pass the bound of their team", async () => {
  const { processes, batch, alone, student } = await planned();
  const [one, other] = processes as [OpenDormitory, OpenDormitory];
  const pair = batch.teams.find(({ members }) => members.length === 2)?.members ?? [];
  const [ann, bob] = pair.map(student) as [never, never];
  const guests = alone.slice(0, MOST_INVITATIONS + 1);
  const last = guests.splice(-2) as [string, string];
  for (const guest of guests) expect(await one.teams.invite(ann, guest)).toEqual({ ok: true });
  const results = await Promise.all([one.teams.invite(ann, last[0]), other.teams.invite(bob, last[1])]);
  expect(results).toContainEqual({ ok: true });
  expect(results).toContainEqual({ ok: false, reason: "too-many-invitations" });
});

test("a student whose team others change at every try is told to try again", async () => {
  const { dormitory, alone, student } = await planned();
  const [ann, bob] = alone as [string, string];
  Object.assign(dormitory.redis, { changeTeams: async () => "moved" });
  expect(await dormitory.teams.invite(student(ann), bob)).toEqual({ ok: false, reason: "changing" });
});
