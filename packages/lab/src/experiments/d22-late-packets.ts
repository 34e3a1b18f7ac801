/** D22: the network holds replies up, before the check of the time; or a write, after it. */
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { fiveServers, type Pay, payByHand, payByNpm, payByQuorum, quorumSteps } from "./five.js";
import { grants, happened, overtaken, payments, stopped } from "./need.js";
import { npmSteps } from "./npm-redlock.js";
import { redlockSteps } from "./redlock.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 40_000;
const heldUpMs = 12_000;
/** When Ann asks for the lock whose grants come late. */
const askedMs = 1_000;

const lateWrites = "grants while a write was under way";

function castOf(trial: Trial) {
  const [ann, bob] = [trial.actor("Ann"), trial.actor("Bob")];
  return { ann, bob, nodes: fiveServers(trial), account: new Account(trial) };
}

/** The answers of C, D and E to Ann's first question arrive when Bob has had the lock for a while. */
function playLateReplies(trial: Trial, pay: Pay): void {
  const { ann, bob, nodes, account } = castOf(trial);
  const late = nodes.slice(2);
  // She has connected before.
  trial.world.at(askedMs - 50, () => {
    for (const node of late) trial.world.link(ann.process, node).block("toProcess");
    trial.mark("Ann", "note", "the network holds up what C, D and E answer to Ann");
  });
  trial.world.at(askedMs + heldUpMs, () => {
    for (const node of late) trial.world.link(ann.process, node).unblock("toProcess");
    trial.mark("Ann", "note", "the answers of C, D and E arrive");
  });
  pay(ann, nodes, account, { ttlMs, amount: 10, atMs: askedMs, work: () => ann.sleep(500) });
  pay(bob, nodes, account, { ttlMs, amount: 20, atMs: askedMs + 10_500, work: () => bob.sleep(4_000) });
  trial.tell = () => toldReplies(trial, account);
}

/** Ann's write leaves in time, and is under way for longer than her lease lasts. */
function playLateWrite(trial: Trial, pay: Pay): void {
  const { ann, bob, nodes, account } = castOf(trial);
  pay(ann, nodes, account, {
    ...{ ttlMs, amount: 10 },
    work: () => ann.sleep(500),
    afterCheck: () => holdUp(trial, ann, account),
    storageTimeout: "20s",
    maxHold: "1s", // a lease that is renewed for as long as the write takes cannot be overtaken
  });
  pay(bob, nodes, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(500) });
  trial.tell = () => toldWrite(trial, account);
}

function holdUp(trial: Trial, { process, name }: Actor, { node }: Account): void {
  const link = trial.world.link(process, node);
  link.block("toNode");
  trial.mark(name, "note", `the network holds up what ${name} sends to the storage`);
  trial.world.at(trial.nowMs + heldUpMs, () => {
    trial.count(
      lateWrites,
      trial.operations.filter(({ f, type }) => f === "acquire" && type === "ok").length - 1,
    );
    link.unblock("toNode");
  });
}

function figuresOf(trial: Trial, { refusals, missing }: Account): Told["figures"] {
  const overlapMs = Math.round(sharedMs(trial));
  return { "two holders, ms": overlapMs, "writes refused": refusals, "money lost": missing };
}

function toldReplies(trial: Trial, account: Account): Told {
  const { confirmed, balance, missing } = account;
  const sentence =
    missing > 0
      ? `Ann's majority was complete when the last answers came, ${seconds(heldUpMs)} after she had asked for ${seconds(ttlMs)}. The library gave ` +
        `her the lock without a look at the clock, while Bob had it: ${confirmed} were paid in, ${balance} are in the account.`
      : `The answers came too late to count, and Ann asked again until she had a majority in time: one after the other held the lock, ` +
        `${confirmed} were paid in, ${balance} are in the account.`;
  return { sentence, figures: figuresOf(trial, account) };
}

function toldWrite(trial: Trial, account: Account): Told {
  const { confirmed, balance, missing } = account;
  const held = `Ann wrote in time by her clock, and the write was under way for ${seconds(heldUpMs)}.`;
  const sentence =
    missing > 0
      ? `${held} It arrived after Bob's: ${confirmed} were paid in, ${balance} are in the account.`
      : `${held} It came with an older token than Bob's, and the storage refused it: ${confirmed} confirmed, ${balance} in the account.`;
  return { sentence, figures: figuresOf(trial, account) };
}

export const latePackets = experiment({
  id: "D22",
  title: "A packet that comes late",
  question:
    "The network may hold a packet up for longer than a lease lasts. First the packets that grant Ann the lock, then the one with which " +
    "she writes. Which of the two can a lock notice?",
  recipes: [
    {
      ...{ side: "naive", name: "npm redlock 5: the grants come late", steps: npmSteps, lastsMs },
      realClients: true,
      needs: [grants(2), overtaken, payments(2)],
      checks: [noneMissing, exclusion],
      play: (trial) => playLateReplies(trial, payByNpm),
    },
    {
      ...{ side: "naive", name: "Redlock by hand: the grants come late", steps: redlockSteps, lastsMs },
      withstands: true,
      needs: [grants(2), payments(2)],
      play: (trial) => playLateReplies(trial, payByHand),
    },
    {
      ...{ side: "naive", name: "Redlock by hand: the write comes late", steps: redlockSteps, lastsMs },
      needs: [grants(2), happened(lateWrites), payments(2)],
      checks: [noneMissing, fence],
      play: (trial) => playLateWrite(trial, payByHand),
    },
    {
      ...{ side: "holdfast", name: "holdfast/redlock: the grants come late", steps: quorumSteps, lastsMs },
      needs: [grants(2), payments(2)],
      play: (trial) => playLateReplies(trial, payByQuorum),
    },
    {
      ...{ side: "holdfast", name: "holdfast/redlock: the write comes late", steps: quorumSteps, lastsMs },
      needs: [grants(2), happened(lateWrites), payments(1), stopped(1)],
      play: (trial) => playLateWrite(trial, payByQuorum),
    },
  ],
  checks: [noneMissing, fence, exclusion, tokens],
  remark:
    "Sanfilippo's answer to Kleppmann: the five steps look at the clock again when the majority is complete, so that a grant cannot be too old. " +
    "That is so, and npm redlock 5 leaves that step out. What is late after the check, no lock can notice: neither Redlock by hand nor " +
    "holdfast's. The storage can. (holdfast renews a lease for as long as the work takes. Here maxHold forbids that, so that there is " +
    "something to see.)",
});
