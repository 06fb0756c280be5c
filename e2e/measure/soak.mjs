// A soak of the guard: minutes of mixed traffic through one proxy while attempts begin and end, and what memory and files it held.
//
//   node measure/soak.mjs [MINUTES] [path/to/qa-pilot]      (from e2e/; needs openssl)
//
// GETs, POSTs, blocked writes, WebSockets, large bodies both ways and requests that are broken off, over HTTP/1 in absolute form, in
// tunnels, over TLS and over HTTP/2. It ends with 1 when an answer was not the expected one, or files piled up.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';

const minutes = Number(process.argv[2] ?? 10);
const binary = path.resolve(process.argv[3] ?? process.env.QA_PILOT_BIN ?? '../target/release/qa-pilot');
const WORKERS = 8;
const BIG = 8 << 20;
const folder = mkdtempSync(path.join(tmpdir(), 'soak-'));
const counts = {};
const faults = [];

// === The origin

execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=localhost',
  '-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'cert.pem')], { stdio: 'ignore' });
const chunk = Buffer.alloc(64 << 10, 'x');
function answer(request, response) {
  let length = 0;
  request.on('data', (data) => (length += data.length));
  request.on('error', () => {});
  request.on('end', () => {
    if (!request.url.startsWith('/big')) return response.end(String(length));
    let left = BIG / chunk.length;
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(chunk)) return response.once('drain', more);
      }
      response.end();
    };
    more();
  });
}
function echo(request, socket) {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  socket.pipe(socket);
}
const key = readFileSync(path.join(folder, 'key.pem'));
const cert = readFileSync(path.join(folder, 'cert.pem'));
const plain = http.createServer(answer).on('upgrade', echo).listen(0, '127.0.0.1');
const secure = https.createServer({ key, cert }, answer).on('upgrade', echo).listen(0, '127.0.0.1');
await Promise.all([plain, secure].map((server) => new Promise((done) => server.once('listening', done))));
const at = { plain: `localhost:${plain.address().port}`, secure: `localhost:${secure.address().port}` };

// === The guard

const guard = spawn(binary, ['proxy', '--run-dir', path.join(folder, 'run'), '--upstream-ca', path.join(folder, 'cert.pem')], {
  env: {
    ...process.env,
    QA_PILOT_MUTATION: '{"policy":"read-only"}',
    QA_PILOT_MUTATION_CONFIG: JSON.stringify({ write_signatures: [{ method: 'POST', url: '/orders' }, { method: 'POST', url: '/search', body: 'mutation' }] }),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ready = JSON.parse(await new Promise((done) => guard.stdout.once('data', done)));
const ca = readFileSync(ready.ca);

async function call(method, where, body) {
  const response = await fetch(ready.control + where, {
    method,
    headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: response.status === 204 ? null : await response.json() };
}

// === Clients

function sent(request, body, breaksOff) {
  return new Promise((done, fail) => {
    request.on('error', (error) => (breaksOff ? done('broken off') : fail(error)));
    request.on('response', (response) => {
      let length = 0;
      response.on('error', () => done('broken off'));
      response.on('data', (data) => {
        length += data.length;
        if (breaksOff) request.destroy();
      });
      response.on('end', () => done({ status: response.statusCode, length }));
      response.on('close', () => done('broken off'));
    });
    request.end(body);
  });
}
function tunnel(port, target) {
  return new Promise((done, fail) => {
    http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: target, agent: false })
      .on('connect', (_, socket) => done(socket.on('error', () => {}))).on('error', fail).end();
  });
}
const secured = async (port, protocols) => {
  const socket = tls.connect({ socket: await tunnel(port, at.secure), servername: 'localhost', ca, ALPNProtocols: protocols });
  await new Promise((done, fail) => socket.once('secureConnect', done).once('error', fail));
  return socket.on('error', () => {});
};
const ways = {
  async absolute(port, method, where, body, breaksOff) {
    return sent(http.request({ host: '127.0.0.1', port, method, path: `http://${at.plain}${where}`, headers: { host: at.plain }, agent: false }), body, breaksOff);
  },
  async tunnel(port, method, where, body, breaksOff) {
    const socket = await tunnel(port, at.plain);
    return sent(http.request({ createConnection: () => socket, method, path: where, headers: { host: at.plain } }), body, breaksOff);
  },
  async tls(port, method, where, body, breaksOff) {
    const socket = await secured(port, ['http/1.1']);
    return sent(http.request({ createConnection: () => socket, method, path: where, headers: { host: at.secure } }), body, breaksOff);
  },
  async http2(port, method, where, body, breaksOff) {
    const socket = await secured(port, ['h2']);
    const session = http2.connect(`https://${at.secure}`, { createConnection: () => socket });
    session.on('error', () => {});
    const outcome = await new Promise((done, fail) => {
      const stream = session.request({ ':method': method, ':path': where }, { endStream: !body });
      let status, length = 0;
      stream.on('response', (head) => (status = head[':status']));
      stream.on('data', (data) => {
        length += data.length;
        if (breaksOff) stream.close(http2.constants.NGHTTP2_CANCEL);
      });
      stream.on('error', (error) => (breaksOff || status === 403 ? done({ status, length }) : fail(error)));
      stream.on('close', () => done(breaksOff ? 'broken off' : { status, length }));
      if (body) stream.end(body);
    });
    session.destroy();
    return outcome;
  },
};
async function webSocket(port) {
  const [socket, host] = Math.random() < 0.5 ? [await tunnel(port, at.plain), at.plain] : [await secured(port, ['http/1.1']), at.secure];
  socket.write(`GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
  const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
  let seen = Buffer.alloc(0);
  const back = new Promise((done) => {
    socket.on('data', (data) => {
      seen = Buffer.concat([seen, data]);
      if (seen.includes('\r\n\r\n') && !seen.includes(frame.subarray(0, 2))) socket.write(frame);
      if (seen.includes(Buffer.from('hi'))) done({ status: 101 });
    });
    socket.on('close', () => done({ status: 0 }));
  });
  const outcome = await back;
  socket.destroy();
  return outcome;
}

const any = (list) => list[Math.floor(Math.random() * list.length)];
const kinds = [
  ['get', 30, (port, way) => ways[way](port, 'GET', '/x'), (got) => got.status === 200],
  ['post', 15, (port, way) => ways[way](port, 'POST', '/x', 'a=1'), (got) => got.status === 200],
  ['read that is held', 10, (port, way) => ways[way](port, 'POST', '/search', '{"query":"{ orders }"}'), (got) => got.status === 200],
  ['blocked', 15, (port, way) => ways[way](port, 'POST', '/orders', 'a=1'), (got) => got.status === 403],
  ['blocked by its body', 5, (port, way) => ways[way](port, 'POST', '/search', '{"query":"mutation { x }"}'), (got) => got.status === 403],
  ['large download', 5, (port, way) => ways[way](port, 'GET', '/big'), (got) => got.status === 200 && got.length === BIG],
  ['large upload', 5, (port, way) => ways[way](port, 'POST', '/x', Buffer.alloc(BIG)), (got) => got.status === 200],
  ['broken off', 10, (port, way) => ways[way](port, 'GET', '/big', undefined, true), (got) => got === 'broken off'],
  ['web socket', 5, (port) => webSocket(port), (got) => got.status === 101],
].flatMap((kind) => Array(kind[1]).fill(kind));

const end = Date.now() + minutes * 60_000;
async function worker(index) {
  for (let round = 0; Date.now() < end; round += 1) {
    const id = `w${index}-${round}`;
    const begun = await call('POST', '/attempts', {
      test_id: id, retry: 0, title: `SOAK-MIX-001: ${id}`, project: 'soak', file: 'soak', line: 1, repeat_each_index: 0,
      worker_index: index, parallel_index: index, output_dir: path.join(folder, 'run', 'results', id),
    });
    if (begun.status !== 201) throw new Error(`begin: ${JSON.stringify(begun)}`);
    const port = Number(new URL(begun.body.proxy).port);
    let blocked = 0;
    for (let n = 0; n < 20 && Date.now() < end; n += 1) {
      const [name, , act, expected] = any(kinds);
      const way = any(Object.keys(ways));
      const got = await act(port, way).catch((error) => error);
      counts[name] = (counts[name] ?? 0) + 1;
      blocked += name.startsWith('blocked') ? 1 : 0;
      if (!expected(got)) faults.push(`${name} by ${way}: ${got instanceof Error ? got.stack : JSON.stringify(got)}`);
    }
    const finished = await call('POST', `/attempts/${begun.body.attempt}/finish`, { status: 'passed' });
    if (finished.status !== 204 && finished.body?.record?.blocked !== blocked) faults.push(`finish of ${id}: ${JSON.stringify(finished)}`);
    counts.attempts = (counts.attempts ?? 0) + 1;
  }
}

// === Measuring

const samples = [];
function sample() {
  const status = readFileSync(`/proc/${guard.pid}/status`, 'utf8');
  samples.push({ rss: Number(/VmRSS:\s+(\d+)/.exec(status)[1]), files: readdirSync(`/proc/${guard.pid}/fd`).length });
}
const sampling = setInterval(sample, 2000);
await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));
clearInterval(sampling);
await new Promise((done) => setTimeout(done, 8000));
sample();
const mib = (kib) => (kib / 1024).toFixed(1);
const middle = samples[Math.floor(samples.length / 2)];
const told = (name, of) => {
  const values = samples.map(of);
  return `${name}: first ${values[0]}, middle ${of(middle)}, last under load ${values.at(-2)}, peak ${values.reduce((a, b) => Math.max(a, Number(b)), 0)}, idle at the end ${values.at(-1)}`;
};
console.log(`${minutes} minutes, ${samples.length} samples: ${JSON.stringify(counts)}`);
console.log(told('resident memory in MiB', ({ rss }) => mib(rss)));
console.log(told('open files', ({ files }) => files));
const left = samples.at(-1).files;
const stopped = new Promise((done) => guard.once('exit', done));
guard.kill('SIGTERM');
const code = await stopped;
plain.closeAllConnections();
secure.closeAllConnections();
plain.close();
secure.close();
rmSync(folder, { recursive: true });
for (const fault of faults.slice(0, 20)) console.error(fault);
console.log(`${faults.length} unexpected answers; the guard ended with ${code}`);
process.exitCode = faults.length || code !== 0 || left > 40 ? 1 : 0;
