import { runSome } from "./matrix.ts";
import { runSomeQuorum } from "./quorum.ts";

runSome();
runSomeQuorum();
