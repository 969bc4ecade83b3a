import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** With which a client enters, as PEM. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** An authority of this minute, a server on this machine, and a client: their files, those of the client, and what those hold. */
export function makeCertificates() {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-certificates-'));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  const usage = 'extendedKeyUsage=serverAuth,clientAuth';
  for (const [name, extension] of [
    ['server', `subjectAltName=IP:127.0.0.1\n${usage}`],
    ['client', usage],
  ] as const) {
    writeFileSync(file(`${name}.ext`), `${extension}\n`);
    openssl('req', ...key, '-subj', '/O=conveyor', '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...signing, '-extfile', `${name}.ext`, '-out', `${name}.pem`);
  }
  const text = (name: string): string => readFileSync(file(name), 'utf8');
  return {
    files: { ca: file('ca.pem'), cert: file('server.pem'), key: file('server.key') },
    client: { ca: file('ca.pem'), cert: file('client.pem'), key: file('client.key') },
    certificates: { ca: text('ca.pem'), cert: text('client.pem'), key: text('client.key') } satisfies Certificates,
  };
}
