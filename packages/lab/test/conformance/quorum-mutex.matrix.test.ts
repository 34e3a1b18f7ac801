/** `npm test` has these cases on one server, in virtual time as well. */
import { mutexCases } from "@holdfast/conformance";
import { runVirtualQuorum } from "./virtual.js";

runVirtualQuorum(3, mutexCases);
