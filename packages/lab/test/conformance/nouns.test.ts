import { nounCases } from "@holdfast/conformance";
import { runVirtual } from "./virtual.js";

runVirtual("nouns", nounCases);
