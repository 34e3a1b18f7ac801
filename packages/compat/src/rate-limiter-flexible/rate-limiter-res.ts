/** RateLimiterRes: what a call says of a key. A call that is over the limit rejects with one. */

export interface IRateLimiterRes {
  remainingPoints?: number;
  msBeforeNext?: number;
  consumedPoints?: number;
  isFirstInDuration?: boolean;
}

export class RateLimiterRes {
  // Fields that a comparison sees, as those of the original: two results with different numbers are not equal.
  private _remainingPoints: number;
  private _msBeforeNext: number;
  private _consumedPoints: number;
  private _isFirstInDuration: boolean;

  constructor(remainingPoints = 0, msBeforeNext = 0, consumedPoints = 0, isFirstInDuration = false) {
    this._remainingPoints = remainingPoints;
    this._msBeforeNext = msBeforeNext;
    this._consumedPoints = consumedPoints;
    this._isFirstInDuration = Boolean(isFirstInDuration);
  }

  /** Points that are left in the current duration, at least 0. */
  get remainingPoints(): number {
    return this._remainingPoints;
  }

  set remainingPoints(points: number) {
    this._remainingPoints = points;
  }

  /** Milliseconds until the count of the key starts again; -1: never. */
  get msBeforeNext(): number {
    return this._msBeforeNext;
  }

  set msBeforeNext(ms: number) {
    this._msBeforeNext = ms;
  }

  /** Points consumed in the current duration, those of refused calls included. Below 0 after rewards. */
  get consumedPoints(): number {
    return this._consumedPoints;
  }

  set consumedPoints(points: number) {
    this._consumedPoints = points;
  }

  /** Whether this call was the first of the current duration. */
  get isFirstInDuration(): boolean {
    return this._isFirstInDuration;
  }

  set isFirstInDuration(value: boolean) {
    this._isFirstInDuration = Boolean(value);
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
