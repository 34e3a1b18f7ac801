/** The reasons for which the service refuses something, in both languages: a word that is missing here does not compile. */
import type { Refusal } from "../../domain/selection.js";
import type { EditResult } from "../../domain/service.js";
import type { ImportProblem } from "../../domain/student.js";
import {
  LARGEST_TEAM,
  MOST_INVITATIONS,
  MOST_WISHES,
  type TeamRefusal,
  type WishesResult,
} from "../../domain/team.js";
import type { Language } from "./formats.js";

type EditRefusal = Extract<EditResult, { ok: false }>["reason"];
type WishesRefusal = Exclude<Extract<WishesResult, { ok: false }>["reason"], "stale">;
export type Reason = Refusal | TeamRefusal | WishesRefusal | EditRefusal | "postponed";

export interface Reasons {
  readonly refused: Readonly<Record<Reason, string>>;
  readonly imports: Readonly<Record<ImportProblem["problem"], string>>;
}

const english: Reasons = {
  refused: {
    "not-open": "The selection has not begun yet.",
    over: "The selection is over.",
    "not-in-batch": "You are not in this batch.",
    "no-wishes": "Your team has no wishes. Choose a room by hand.",
    "wishes-full": "None of your wishes has enough free beds any more. Choose a room by hand.",
    "room-full": "This room no longer has enough free beds for your team.",
    "no-such-room": "This room does not belong to the batch.",
    "has-room": "Your team has a room. Give it back first.",
    "no-room": "You have no room to give back.",
    changing: "Your team changed while this was decided. Please try again.",
    "no-such-student": "No student of this batch has this number.",
    yourself: "This is your own number.",
    "same-team": "This student is in your team already.",
    "too-large": `A team has at most ${LARGEST_TEAM} members.`,
    "too-many-invitations": `At most ${MOST_INVITATIONS} invitations can wait for an answer.`,
    "invited-already": "This student has your invitation already.",
    "no-such-invitation": "This invitation no longer exists.",
    "in-a-team": "This student is in a team, and would have to leave it first.",
    "not-in-a-team": "You are not in a team.",
    "batch-over": "The batch is over.",
    twice: "A room can be wished only once.",
    "too-many": `At most ${MOST_WISHES} wishes are possible.`,
    "no-such-batch": "There is no such batch.",
    "not-over": "The batch is not over.",
    terms: "The name must not be empty, and the end must be after the start.",
    "room-taken": "Somebody lives in this room.",
    "room-exists": "The batch has a room of this name already.",
    "not-stored": "The database refuses a value. Nothing was changed.",
    archived: "The batch is archived.",
    postponed: "Your start was postponed, because you asked for a page too often.",
  },
  imports: {
    columns: "The columns are not those expected",
    number: "Not a student number",
    name: "The name is missing or too long",
    beds: "Not a number of beds",
    building: "The building is missing",
    password: "The password is too short",
    wishes: "Not a list of rooms of this batch",
    "twice-in-file": "Twice in this file",
    exists: "Exists already",
    syntax: "Not valid CSV",
  },
};

const chinese: Reasons = {
  refused: {
    "not-open": "选择尚未开始。",
    over: "选择已结束。",
    "not-in-batch": "您不在这个批次中。",
    "no-wishes": "您的团队还没有志愿，请自己挑选房间。",
    "wishes-full": "您的志愿中已没有床位足够的房间，请自己挑选房间。",
    "room-full": "这个房间的空床位已不够您的团队入住。",
    "no-such-room": "这个房间不属于本批次。",
    "has-room": "您的团队已有房间，请先退掉。",
    "no-room": "您没有可退的房间。",
    changing: "决定过程中您的团队发生了变化，请重试。",
    "no-such-student": "本批次没有这个学号的学生。",
    yourself: "这是您自己的学号。",
    "same-team": "这位同学已在您的团队中。",
    "too-large": `一个团队最多 ${LARGEST_TEAM} 人。`,
    "too-many-invitations": `最多只能有 ${MOST_INVITATIONS} 个未答复的邀请。`,
    "invited-already": "您已邀请过这位同学。",
    "no-such-invitation": "这个邀请已不存在。",
    "in-a-team": "这位同学已在团队中，需要先离开。",
    "not-in-a-team": "您不在团队中。",
    "batch-over": "本批次已结束。",
    twice: "同一个房间只能填写一次。",
    "too-many": `最多填写 ${MOST_WISHES} 个志愿。`,
    "no-such-batch": "没有这个批次。",
    "not-over": "批次尚未结束。",
    terms: "名称不能为空，结束时间必须晚于开始时间。",
    "room-taken": "这个房间已有人入住。",
    "room-exists": "本批次已有同名房间。",
    "not-stored": "数据库拒绝了其中的值，没有任何更改。",
    archived: "本批次已归档。",
    postponed: "由于请求过于频繁，您的开始时间被推迟。",
  },
  imports: {
    columns: "列与要求不符",
    number: "不是有效的学号",
    name: "姓名缺失或过长",
    beds: "不是有效的床位数",
    building: "缺少楼栋",
    password: "密码太短",
    wishes: "不是本批次房间的列表",
    "twice-in-file": "文件中重复",
    exists: "已存在",
    syntax: "不是有效的 CSV",
  },
};

const tables: Readonly<Record<Language, Reasons>> = { en: english, "zh-CN": chinese };

export function reasonsOf(language: Language): Reasons {
  return tables[language];
}

export function isReason(word: string | undefined): word is Reason {
  return word !== undefined && Object.hasOwn(english.refused, word);
}
