// The sample shop: two applications (storefront and admin, told apart by host name) over HTTPS with HTTP/2 and HTTP/1.1,
// and over plain HTTP.
import { createServer as createHttp } from 'node:http';
import { createSecureServer } from 'node:http2';
import { WebSocketServer } from 'ws';
import { api, isWrite } from './api.mjs';
import { makeCertificates } from './certificates.mjs';
import { makeData } from './data.mjs';
import { galleryImages, pageFor, serviceWorker } from './pages.mjs';

const style = 'body{font:16px system-ui;margin:2rem}header{display:flex;gap:1rem}td,th{padding:.2rem 1rem;text-align:left}';
const image = (n) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4" fill="hsl(${n * 7} 60% 50%)"/>${'<!-- -->'.repeat(500)}</svg>`;

/// Starts the shop; port 0 takes a free one. Resolves to its URLs, its CA (PEM), its ledger and `close`.
export async function startShop({ httpsPort = 0, httpPort = 0, commit = '3f9c2ab71d40e85b6a1c0f2d9e7b8a6540c1d2e3' } = {}) {
  const data = makeData();
  const version = { commit };
  const { ca, cert, key } = makeCertificates(['shop.localhost', 'admin.localhost', 'localhost', '127.0.0.1']);

  const enter = (entry) => data.ledger.push({ at: new Date().toISOString(), ...entry });

  const answer = (request) => {
    if (request.path === '/version.json') return { status: 200, type: 'application/json', body: JSON.stringify(version) };
    if (request.path === '/style.css') return { status: 200, type: 'text/css', body: style };
    if (request.path === '/sw.js') return { status: 200, type: 'text/javascript', body: serviceWorker };
    const picture = /^\/images\/(\d+)\.svg$/.exec(request.path);
    if (picture && Number(picture[1]) < galleryImages) return { status: 200, type: 'image/svg+xml', body: image(Number(picture[1])) };
    return api(data, request) ?? pageFor(data, request) ?? { status: 404, type: 'text/plain', body: 'not found' };
  };

  const handle = async (incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8');
    for await (const chunk of incoming) body += chunk;
    const host = incoming.headers[':authority'] ?? incoming.headers.host ?? '';
    const url = new URL(incoming.url, `http://${host}`);
    const cookies = Object.fromEntries((incoming.headers.cookie ?? '').split('; ').filter(Boolean).map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
    }));
    const request = { method: incoming.method, path: url.pathname, query: Object.fromEntries(url.searchParams), body, cookies, host };
    if (isWrite(request)) enter({ method: request.method, host, path: request.path + url.search, body });
    const { status, type, body: content, headers } = answer(request);
    outgoing.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers });
    outgoing.end(content);
  };
  const listener = (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  };

  const https = createSecureServer({ key, cert, allowHTTP1: true }, listener);
  const http = createHttp(listener);
  const sockets = new WebSocketServer({ noServer: true });
  for (const server of [https, http]) {
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (connection) => {
        connection.send(JSON.stringify({ product: 'Oak desk', stock: 3 }));
        connection.on('message', (message) => {
          if (request.url === '/ws/orders') enter({ method: 'WS', host: request.headers.host, path: request.url, body: String(message) });
          connection.send(`heard ${message}`);
        });
      });
    });
  }
  const open = new Set();
  for (const server of [https, http]) {
    server.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  }
  const listen = (server, port) =>
    new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server.address().port)));
  const ports = { https: await listen(https, httpsPort), http: await listen(http, httpPort) };

  return {
    ca,
    ports,
    shop: `https://shop.localhost:${ports.https}`,
    admin: `https://admin.localhost:${ports.https}`,
    plain: `http://shop.localhost:${ports.http}`,
    ledger: data.ledger,
    /// Pretends that another build was deployed.
    deploy: (next) => void (version.commit = next),
    close: async () => {
      for (const socket of open) socket.destroy();
      await Promise.all([https, http].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
