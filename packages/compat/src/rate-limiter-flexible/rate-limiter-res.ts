/** RateLimiterRes: what a call says of a key. A call that is over the limit rejects with one. */

export interface IRateLimiterRes {
  remainingPoints?: number;
  msBeforeNext?: number;
  consumedPoints?: number;
  isFirstInDuration?: boolean;
}

/** Fields that a comparison sees, as those of the original: two results with different numbers are not equal. */
interface Fields {
  _remainingPoints: number;
  _msBeforeNext: number;
  _consumedPoints: number;
  _isFirstInDuration: boolean;
}

/** They are not in the type, so that a program may write a result as a literal. */
function fields(result: RateLimiterRes): Fields {
  return result as unknown as Fields;
}

export class RateLimiterRes {
  constructor(remainingPoints = 0, msBeforeNext = 0, consumedPoints = 0, isFirstInDuration = false) {
    this.remainingPoints = remainingPoints;
    this.msBeforeNext = msBeforeNext;
    this.consumedPoints = consumedPoints;
    this.isFirstInDuration = isFirstInDuration;
  }

  /** Points that are left in the current duration, at least 0. */
  get remainingPoints(): number {
    return fields(this)._remainingPoints;
  }

  set remainingPoints(points: number) {
    fields(this)._remainingPoints = points;
  }

  /** Milliseconds until the count of the key starts again; -1: never. */
  get msBeforeNext(): number {
    return fields(this)._msBeforeNext;
  }

  set msBeforeNext(ms: number) {
    fields(this)._msBeforeNext = ms;
  }

  /** Points consumed in the current duration, those of refused calls included. Below 0 after rewards. */
  get consumedPoints(): number {
    return fields(this)._consumedPoints;
  }

  set consumedPoints(points: number) {
    fields(this)._consumedPoints = points;
  }

  /** Whether this call was the first of the current duration. */
  get isFirstInDuration(): boolean {
    return fields(this)._isFirstInDuration;
  }

  set isFirstInDuration(value: boolean) {
    fields(this)._isFirstInDuration = Boolean(value);
  }

  toJSON(): Required<IRateLimiterRes> {
    const { remainingPoints, msBeforeNext, consumedPoints, isFirstInDuration } = this;
    return { remainingPoints, msBeforeNext, consumedPoints, isFirstInDuration };
  }

  toString(): string {
    return JSON.stringify(this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): Required<IRateLimiterRes> {
    return this.toJSON();
  }
}
