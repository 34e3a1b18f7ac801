/** Who may see a page. */
import type { Student } from "../domain/student.js";
import { Refused } from "./refused.js";
import type { PageContext } from "./site.js";

/** @throws {Refused} where nobody has signed in, or an administrator */
export function studentOf(context: PageContext): Student {
  const student = signedIn(context);
  if (student.role !== "student") throw new Refused(403, "notStudent");
  return student;
}

/** @throws {Refused} where nobody has signed in, or somebody else than an administrator */
export function administratorOf(context: PageContext): Student {
  const student = signedIn(context);
  if (student.role !== "admin") throw new Refused(403, "forbidden");
  return student;
}

function signedIn(context: PageContext): Student {
  const student = context.get("student");
  if (!student) throw new Refused(401, "signIn");
  return student;
}
