/** Incarnations: which node of a Redlock is which run of a server, so that one server does not vote twice. */
export class Incarnations<Node> {
  readonly #byId = new Map<string, Node>();

  /** Returns the node that has this incarnation: `node`, unless another one had it before. */
  claim(incarnation: string, node: Node): Node {
    const owner = this.#byId.get(incarnation) ?? node;
    this.#byId.set(incarnation, owner);
    return owner;
  }

  /** The node is another incarnation now. */
  drop(incarnation: string, node: Node): void {
    if (this.#byId.get(incarnation) === node) this.#byId.delete(incarnation);
  }
}
