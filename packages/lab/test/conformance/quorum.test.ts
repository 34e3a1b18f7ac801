import { mutexCases, redlockCases } from "@holdfast/conformance";
import { runVirtualQuorum } from "./virtual.js";

runVirtualQuorum(3, mutexCases);
runVirtualQuorum(3, redlockCases, true);
