/** People who sign in. */

export interface Student {
  /** The student number; an administrator has one as well. */
  readonly id: string;
  readonly name: string;
  readonly role: "student" | "admin";
  /** Null: in no batch. */
  readonly batchId: string | null;
}

/** A row of an import that was refused. Lines count from 1, the header is the first. */
export interface ImportProblem {
  readonly line: number;
  readonly problem:
    | "columns"
    | "number"
    | "name"
    | "beds"
    | "building"
    | "password"
    | "wishes"
    | "twice-in-file"
    | "exists"
    | "syntax";
  /** The text that was refused, at most 80 characters. */
  readonly text: string;
}

export interface ImportResult {
  readonly imported: number;
  readonly problems: readonly ImportProblem[];
}
