/** The part of bottleneck 2.19.5 that is measured. */

declare class Bottleneck {
  schedule<T>(work: () => Promise<T>): Promise<T>;
}

declare namespace Bottleneck {
  const strategy: { readonly OVERFLOW: number };

  class IORedisConnection {
    constructor(options: { readonly client: unknown });
    disconnect(flush?: boolean): Promise<void>;
  }

  class Group {
    constructor(options: {
      readonly connection: IORedisConnection;
      readonly id: string;
      readonly reservoir: number;
      readonly reservoirRefreshAmount: number;
      readonly reservoirRefreshInterval: number;
      readonly highWater: number;
      readonly strategy: number;
    });
    key(name: string): Bottleneck;
  }
}

export default Bottleneck;
