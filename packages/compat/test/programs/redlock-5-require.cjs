// A program in CommonJS, as the README of redlock 5 writes it.
const { default: Redlock, ResourceLockedError } = require("redlock");
const { Redis } = require("ioredis");

const redlock = new Redlock([new Redis()]);
redlock.on("error", (error) => {
  if (!(error instanceof ResourceLockedError)) console.error(error);
});
// @ts-expect-error there is no such method
redlock.locked();
