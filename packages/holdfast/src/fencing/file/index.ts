/** `holdfast/fencing/file`: a file that refuses holders who were overtaken. */
export { FencedFile, type FencedFileOptions, type FileState } from "./fenced-file.js";
export { type FileSystem, systemFiles } from "./file-system.js";
