/** Strangers on the same server: channels know no databases and no key prefixes. Each hazard breaks a recipe here, and does not break holdfast. */
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { Scene } from "./scene.js";

/** A process keeps what a channel says, and a program whose keys are in another database writes there. */
async function listenBeside(hear: (text: string) => void): Promise<Scene> {
  const scene = await Scene.open();
  const { node, world } = scene;
  const a = scene.program("a");
  a.run(async () => {
    const subscriber = a.client();
    subscriber.on("message", (_: string, text: string) => hear(text));
    await subscriber.subscribe("settings");
  });
  world.at(100, () => {
    node.peek("SET", "settings", '"own"');
    node.peek("SELECT", "1");
    node.peek("SET", "settings", "theirs");
    node.peek("PUBLISH", "settings", "theirs");
    node.peek("SELECT", "0");
  });
  await world.run(500);
  return scene;
}

test("a copy that follows a channel has what is in another database [breaks H79]", async () => {
  let copy = '"own"';
  const { node, world } = await listenBeside((text) => {
    copy = text;
  });
  expect(world.errors).toEqual([]);
  expect([copy, node.peek("GET", "settings")]).toEqual(["theirs", '"own"']);
});

test("a message that cannot be read ends the process that hears it [breaks H80]", async () => {
  await expect(listenBeside((text) => void JSON.parse(text))).rejects.toThrow(SyntaxError);
});
