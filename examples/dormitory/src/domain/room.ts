/** Rooms and their beds. */

/** The beds of the largest room. */
export const MOST_BEDS = 8;

export interface Room {
  readonly id: string;
  readonly batchId: string;
  readonly building: string;
  readonly name: string;
  readonly beds: number;
}

/** A room as a student sees it. */
export interface RoomView extends Room {
  readonly free: number;
}

/** The bed that one student has. Beds of a room count from 1. */
export interface Place {
  readonly studentId: string;
  readonly roomId: string;
  readonly bed: number;
}

/** Whether the text is a number of beds that a room may have. */
export function isBedCount(text: string): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_BEDS;
}
