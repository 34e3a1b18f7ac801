import { redlockCases } from "@holdfast/conformance";
import { runVirtualQuorum } from "./virtual.js";

runVirtualQuorum(3, redlockCases, true);
