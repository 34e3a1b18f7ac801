import type { Question } from "./question.js";
import { uncontended } from "./uncontended.js";

export const questions: readonly Question[] = [uncontended];
