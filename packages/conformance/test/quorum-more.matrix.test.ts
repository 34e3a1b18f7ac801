import { runQuorum } from "./quorum.ts";

runQuorum(4);
runQuorum(5);
