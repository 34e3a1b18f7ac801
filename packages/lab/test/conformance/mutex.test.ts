import { mutexCases } from "@holdfast/conformance";
import { runVirtual } from "./virtual.js";

runVirtual("the mutex", mutexCases);
