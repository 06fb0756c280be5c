// A certificate authority and a server certificate for this start of the shop alone.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/// Returns PEM texts: `ca` is what a client must trust, `cert` the chain and `key` what the server uses.
export function makeCertificates(names) {
  const dir = mkdtempSync(join(tmpdir(), 'shop-ca-'));
  const file = (name) => join(dir, name);
  const openssl = (...args) => execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', '-x509', ...ecKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Sample shop CA',
      '-addext', 'keyUsage=critical,keyCertSign');
    openssl('req', ...ecKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=Sample shop');
    const alternative = names.map((name) => (/^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(',');
    writeFileSync(file('extensions'), `subjectAltName=${alternative}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:false\n`);
    openssl('x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
      '-extfile', 'extensions', '-out', 'server.pem');
    const read = (name) => readFileSync(file(name), 'utf8');
    return { ca: read('ca.pem'), cert: read('server.pem') + read('ca.pem'), key: read('server.key') };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
