/** The seed data: batches, rooms, students, teams and wishes, all from one seed. Pure. */
import type { Way } from "../domain/batch.js";
import { LARGEST_TEAM, MOST_WISHES } from "../domain/team.js";
import { type Chance, chanceFrom } from "./random.js";

export interface SeedOptions {
  readonly seed: string;
  readonly batches: number;
  readonly studentsPerBatch: number;
  /** The first batch starts then; the next ones follow, `apartMs` later each. */
  readonly startsAtMs: number;
  readonly apartMs: number;
  readonly openMs: number;
  /** Alternating where it is not given. */
  readonly way?: Way;
}

export interface SeedRoom {
  readonly id: string;
  readonly building: string;
  readonly name: string;
  readonly beds: number;
}

export interface SeedTeam {
  readonly members: readonly string[];
  readonly wishes: readonly string[];
}

export interface SeedBatch {
  readonly id: string;
  readonly name: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly way: Way;
  readonly rooms: readonly SeedRoom[];
  readonly students: readonly { readonly number: string; readonly name: string }[];
  readonly teams: readonly SeedTeam[];
}

export const ADMINISTRATOR = "admin";

/** 55 rooms for 200 students: 1,100 for 4,000. As many beds as students, and some to spare. */
const ROOMS_PER_STUDENT = 55 / 200;
/** Of 55 rooms: 41 with four beds, 10 with three, 4 with two. */
const BEDS = [...Array<number>(41).fill(4), ...Array<number>(10).fill(3), ...Array<number>(4).fill(2)];
const ROOMS_PER_FLOOR = 11;
const SURNAMES = "赵 钱 孙 李 周 吴 郑 王 冯 陈 褚 卫 蒋 沈 韩 杨 朱 秦 尤 许 何 吕 施 张 孔 曹 严 华".split(
  " ",
);
const GIVEN =
  "伟 芳 娜 敏 静 磊 洋 勇 艳 杰 娟 涛 明 超 霞 平 刚 桂英 子涵 雨桐 浩然 思远 欣怡 晨曦 嘉懿 一诺 梓萱 博文".split(
    " ",
  );
const FACULTIES = [
  "Physics 物理",
  "Chemistry 化学",
  "Mathematics 数学",
  "Law 法学",
  "History 历史",
  "Medicine 医学",
  "Economics 经济",
  "Computing 计算机",
  "Biology 生物",
  "Philosophy 哲学",
];
const BUILDINGS = "Plum 梅园,Orchid 兰园,Bamboo 竹园,Chrysanthemum 菊园".split(",");
/** How quickly the wishes thin out from the best room to the worst: 0 would spread them evenly. */
const CONCENTRATION = 1.1;

export function seedData(options: SeedOptions): SeedBatch[] {
  return Array.from({ length: options.batches }, (_, at) => seedBatch(options, at));
}

function seedBatch(options: SeedOptions, at: number): SeedBatch {
  const chance = chanceFrom(`${options.seed}:${at}`);
  const id = `b${String(at + 1).padStart(2, "0")}`;
  const rooms = roomsOf(id, at, Math.round(options.studentsPerBatch * ROOMS_PER_STUDENT), chance);
  const students = Array.from({ length: options.studentsPerBatch }, (_, place) => ({
    number: String(20_260_000 + at * options.studentsPerBatch + place + 1),
    name: `${chance.pick(SURNAMES)}${chance.pick(GIVEN)}`,
  }));
  const startsAtMs = options.startsAtMs + at * options.apartMs;
  const faculty = FACULTIES[at % FACULTIES.length] as string;
  return {
    id,
    name: at < FACULTIES.length ? faculty : `${faculty} ${Math.floor(at / FACULTIES.length) + 1}`,
    startsAtMs,
    endsAtMs: startsAtMs + options.openMs,
    way: options.way ?? (at % 2 === 0 ? "locks" : "lanes"),
    rooms,
    students,
    teams: teamsOf(
      students.map(({ number }) => number),
      rooms,
      chance,
    ),
  };
}

function roomsOf(batchId: string, at: number, count: number, chance: Chance): SeedRoom[] {
  const beds = chance.shuffled(
    Array.from({ length: count }, (_, place) => BEDS[place % BEDS.length] as number),
  );
  const building = `${BUILDINGS[at % BUILDINGS.length]} ${Math.floor(at / BUILDINGS.length) + 1}`;
  return beds.map((number, place) => {
    const floor = Math.floor(place / ROOMS_PER_FLOOR) + 1;
    const name = `${floor}${String((place % ROOMS_PER_FLOOR) + 1).padStart(2, "0")}`;
    return { id: `${batchId}-${name}`, building, name, beds: number };
  });
}

/** Half of the students are in teams of two to four. */
function teamsOf(numbers: readonly string[], rooms: readonly SeedRoom[], chance: Chance): SeedTeam[] {
  const popular = chance.shuffled(rooms);
  const left = chance.shuffled(numbers);
  const teams: SeedTeam[] = [];
  while (left.length > 0) {
    const size = chance.next() < 0.25 ? 2 + chance.below(LARGEST_TEAM - 1) : 1;
    const members = left.splice(0, size).sort();
    teams.push({ members, wishes: wishesFor(members.length, popular, chance) });
  }
  return teams;
}

/** The first rooms of `popular` are wished for most. Nobody wishes for a room that is too small. */
function wishesFor(size: number, popular: readonly SeedRoom[], chance: Chance): string[] {
  const wishes = new Set<string>();
  const wanted = 4 + chance.below(MOST_WISHES - 3);
  for (let tries = 0; tries < 20 * wanted && wishes.size < wanted; tries += 1) {
    const rank = Math.floor(popular.length * chance.next() ** (1 + CONCENTRATION));
    const room = popular[rank];
    if (room && room.beds >= size) wishes.add(room.id);
  }
  return [...wishes];
}
