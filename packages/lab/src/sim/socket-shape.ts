/** What client libraries ask of every socket, and a world has no use for. */
import { Duplex } from "node:stream";

export class SocketShape extends Duplex {
  connecting = true;
  readonly remoteAddress: string;
  readonly remotePort: number;

  constructor(remoteAddress: string, remotePort: number) {
    super({ allowHalfOpen: false });
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  override _read(): void {}

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
