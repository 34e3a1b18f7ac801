/** A certificate authority and a server's certificate, made for one test file. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificates {
  /** Of the authority, in PEM. */
  readonly ca: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  remove(): void;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export function makeCertificates(openssl: string): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
  const file = (name: string): string => join(folder, name);
  const run = (...args: string[]): void => void execFileSync(openssl, args, { stdio: "pipe" });
  const [caKey, caFile] = [file("ca.key"), file("ca.crt")];
  const [keyFile, request, certFile] = [file("server.key"), file("server.csr"), file("server.crt")];
  writeFileSync(file("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1");
  run("req", "-x509", ...NEW_KEY, "-days", "2", "-keyout", caKey, "-out", caFile, "-subj", "/CN=test");
  run("req", "-new", ...NEW_KEY, "-keyout", keyFile, "-out", request, "-subj", "/CN=localhost");
  const signed = ["-CA", caFile, "-CAkey", caKey, "-CAcreateserial", "-extfile", file("names")];
  run("x509", "-req", "-in", request, "-out", certFile, "-days", "2", ...signed);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { ca: readFileSync(caFile, "utf8"), caFile, certFile, keyFile, remove };
}
