#!/usr/bin/env python3
"""Behaviour probes of a CONNECT proxy, raw sockets. Run with a Python that has `h2` and `cryptography`.
  probe.py NAME=127.0.0.1:PORT [...]   (NAME=none for direct). Needs origin on 127.0.0.1:443 + [::1]:443 + 127.0.0.1:8444 (h2),
  127.0.0.2:443 (--h1only), plain 127.0.0.1:8880, and the names bench.test, h1only.test in /etc/hosts."""
import base64, json, os, socket, ssl, sys, threading, time
import h2.connection, h2.config, h2.events
from cryptography import x509
OUT = {}
def mk(ctx_alpn):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
    c.set_alpn_protocols(ctx_alpn); return c
def raw(proxy): s = socket.create_connection(proxy, 5); s.settimeout(6); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); return s
def head(s, end=b'\r\n\r\n'):
    b = b''
    while end not in b:
        d = s.recv(1)
        if not d: break
        b += d
    return b
RES = {'bench.test': '127.0.0.1', 'h1only.test': '127.0.0.2'}
def tunnel(proxy, host, port=443):
    if proxy is None: return raw((RES.get(host, host.strip('[]')), port)), b'200'
    s = raw(proxy); s.sendall(f'CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n'.encode()); r = head(s)
    if b' 200' not in r[:16]: raise Exception('CONNECT: ' + r[:60].decode('latin1'))
    return s, r
def tls(proxy, host='bench.test', port=443, alpn=('http/1.1',), sni=True):
    s, _ = tunnel(proxy, host, port)
    return mk(list(alpn)).wrap_socket(s, server_hostname=host if sni else None)
def http(t, req, body_wait=True):
    t.sendall(req); h = head(t); b = b''
    st = h.split(b'\r\n')[0].decode('latin1'); hl = h.lower()
    if b'content-length:' in hl and body_wait:
        n = int(hl.split(b'content-length:')[1].split(b'\r\n')[0])
        while len(b) < n:
            d = t.recv(65536)
            if not d: break
            b += d
    elif b'chunked' in hl and body_wait:
        while not (b.endswith(b'0\r\n\r\n') or b'\r\n0\r\n' in b and b.endswith(b'\r\n\r\n')):
            d = t.recv(65536)
            if not d: break
            b += d
    return st, h, b
def get(path, host='bench.test', extra='', m='GET', v='1.1'): return f'{m} {path} HTTP/{v}\r\nHost: {host}\r\n{extra}\r\n'.encode()
def leaf(t): return x509.load_der_x509_certificate(t.getpeercert(True))
def h2req(t, headers, path='/headers', host='bench.test', data=None, method='GET'):
    c = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding='utf-8', normalize_outbound_headers=False)); c.initiate_connection(); t.sendall(c.data_to_send())
    c.send_headers(1, [(':method', method), (':scheme', 'https'), (':authority', host), (':path', path)] + headers, end_stream=data is None)
    if data is not None: c.send_data(1, data, end_stream=True)
    t.sendall(c.data_to_send()); st, b, tr, ext = None, b'', None, None
    while True:
        d = t.recv(65536)
        if not d: return st, b, tr, 'closed', c
        for e in c.receive_data(d):
            if isinstance(e, h2.events.ResponseReceived): st = dict(e.headers).get(':status')
            elif isinstance(e, h2.events.DataReceived): b += e.data; c.acknowledge_received_data(e.flow_controlled_length, 1)
            elif isinstance(e, h2.events.TrailersReceived): tr = e.headers
            elif isinstance(e, h2.events.StreamReset): return st, b, tr, f'reset {e.error_code}', c
            elif isinstance(e, h2.events.ConnectionTerminated): return st, b, tr, f'goaway {e.error_code}', c
            elif isinstance(e, h2.events.StreamEnded): t.sendall(c.data_to_send()); return st, b, tr, 'ok', c
        t.sendall(c.data_to_send())
P = {}
def probe(f): P[f.__name__] = f; return f
@probe
def alpn(p): return tls(p, alpn=('h2', 'http/1.1')).selected_alpn_protocol()
@probe
def leaf_cert(p):
    a = leaf(tls(p)); b = leaf(tls(p, 'h1.bench.test'))
    san = a.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return f"days={(a.not_valid_after_utc - a.not_valid_before_utc).days} key={type(a.public_key()).__name__.strip('_')}{getattr(a.public_key(), 'key_size', '')} SAN={[str(x.value) for x in san]} serial_differs={a.serial_number != b.serial_number} same_key={a.public_key() == b.public_key()}"
@probe
def ipv4_literal(p):
    t = tls(p, '127.0.0.1', sni=False); c = leaf(t); st = http(t, get('/small', '127.0.0.1'))[0]
    san = c.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return f"{st[9:12]} SAN={[type(x).__name__ + ':' + str(x.value) for x in san]}"
@probe
def ipv6_literal(p):
    t = tls(p, '[::1]', sni=False); c = leaf(t); st = http(t, get('/small', '[::1]'))[0]
    san = c.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return f"{st[9:12]} SAN={[type(x).__name__ + ':' + str(x.value) for x in san]}"
@probe
def other_port(p): return http(tls(p, port=8444), get('/small', 'bench.test:8444'))[0]
@probe
def h2_cookies_to_h1(p):
    t = tls(p, 'h1only.test', alpn=('h2', 'http/1.1'))
    if t.selected_alpn_protocol() != 'h2': return 'no h2'
    st, b, *_ = h2req(t, [('cookie', 'a=1'), ('cookie', 'b=2')], host='h1only.test')
    return f"{st} " + ' | '.join(l for l in b.decode().split('\n') if l.startswith('cookie') or l.startswith('HTTP') or l.startswith('host'))
@probe
def h2_headers_20k(p):
    t = tls(p, alpn=('h2', 'http/1.1'))
    if t.selected_alpn_protocol() != 'h2': return 'no h2'
    st, b, tr, how, _ = h2req(t, [('x-big', 'v' * 20000)], '/small'); return f'{st} {how}'
@probe
def h1_headers_60k(p): return http(tls(p), get('/small', extra='x-big: ' + 'v' * 60000 + '\r\n'))[0]
@probe
def trailers_h1(p): st, h, b = http(tls(p), get('/trailers', extra='TE: trailers\r\n')); return 'trailer kept' if b'x-trailer: yes' in b.lower() else f'lost ({st})'
@probe
def trailers_h2(p):
    t = tls(p, alpn=('h2', 'http/1.1'))
    if t.selected_alpn_protocol() != 'h2': return 'no h2'
    st, b, tr, how, _ = h2req(t, [('te', 'trailers')], '/trailers'); return 'trailer kept' if tr else f'lost ({st} {how})'
@probe
def expect_100(p):
    t = tls(p); t.sendall(get('/sink', m='POST', extra='Content-Length: 5\r\nExpect: 100-continue\r\n')); t.settimeout(2)
    try: h = head(t); first = h.split(b'\r\n')[0].decode()
    except Exception: first = 'no 100 in 2 s'
    t.settimeout(5); st = http(t, b'hello')[0] if ' 100' in first or first.startswith('no') else ''; return f'{first} then {st}'
@probe
def http10(p):
    t = tls(p); t.sendall(get('/small', v='1.0')); b = b''
    while True:
        d = t.recv(65536)
        if not d: break
        b += d
    st, body = b.split(b'\r\n')[0].decode(), len(b.split(b'\r\n\r\n', 1)[-1]); return f'{st} body={body} closed'
@probe
def websocket(p):
    t = tls(p); st, h, _ = http(t, get('/ws', extra='Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' + base64.b64encode(os.urandom(16)).decode() + '\r\nSec-WebSocket-Protocol: chat, x\r\nSec-WebSocket-Extensions: permessage-deflate\r\n'), False)
    sub = b'sec-websocket-protocol: chat' in h.lower(); t.sendall(b'\x81\x82\0\0\0\0hi'); r = t.recv(100)
    return f"{st[9:12]} echo={r == bytes([0x81, 2]) + b'hi'} subprotocol_returned={sub}"
@probe
def websocket_404(p):
    t = tls(p); st, h, _ = http(t, get('/nope', extra='Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' + base64.b64encode(os.urandom(16)).decode() + '\r\n'), False); return st
@probe
def plain_ws_in_connect(p):
    s, _ = tunnel(p, 'bench.test', 8880) if p else (raw(('127.0.0.1', 8880)), 0); st = http(s, get('/ws', 'bench.test:8880', extra='Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' + base64.b64encode(os.urandom(16)).decode() + '\r\n'), False)[0]
    s.sendall(b'\x81\x82\0\0\0\0hi'); return f"{st[9:12]} echo={s.recv(100) == bytes([0x81, 2]) + b'hi'}"
@probe
def early_413(p):
    t = tls(p); t0 = time.time(); t.sendall(get('/reject', m='POST', extra='Content-Length: 67108864\r\n')); t.sendall(b'x' * 65536); t.settimeout(3)
    st = head(t).split(b'\r\n')[0].decode(); return f'{st} after {time.time() - t0:.2f}s'
@probe
def cancel_propagates(p):
    def active(): return int(http(tls(None), get('/active'))[2])
    a0 = active(); t = tls(p); t.sendall(get('/sse?n=300&ms=100')); head(t); t.recv(20); t.close(); time.sleep(1.0); a1 = active(); return 'yes' if a1 <= a0 else f'no ({a1 - a0} still running after 1 s)'
@probe
def first_byte_split(p):
    if p is None: return '-'
    s, _ = tunnel(p, 'bench.test'); inb, outb = ssl.MemoryBIO(), ssl.MemoryBIO(); o = mk(['http/1.1']).wrap_bio(inb, outb, server_hostname='bench.test')
    sent = False
    while True:
        try: o.do_handshake(); break
        except ssl.SSLWantReadError:
            d = outb.read()
            if d and not sent: s.sendall(d[:1]); time.sleep(0.3); s.sendall(d[1:]); sent = True
            elif d: s.sendall(d)
            r = s.recv(65536)
            if not r: return 'closed'
            inb.write(r)
    c = x509.load_der_x509_certificate(o.getpeercert(True)); return ('intercepted' if 'self signed' not in c.issuer.rfc4514_string() else 'BYPASSED: raw tunnel to the origin')
@probe
def connect_plus_hello(p):
    if p is None: return '-'
    s = raw(p); inb, outb = ssl.MemoryBIO(), ssl.MemoryBIO(); o = mk(['http/1.1']).wrap_bio(inb, outb, server_hostname='bench.test')
    try: o.do_handshake()
    except ssl.SSLWantReadError: pass
    s.sendall(b'CONNECT bench.test:443 HTTP/1.1\r\nHost: bench.test:443\r\n\r\n' + outb.read()); h = head(s); s.settimeout(3)
    while True:
        try: o.do_handshake(); return 'ok'
        except ssl.SSLWantReadError:
            d = outb.read()
            if d: s.sendall(d)
            r = s.recv(65536)
            if not r: return 'closed'
            inb.write(r)
@probe
def head_length(p): st, h, b = http(tls(p), get('/bytes/1000', m='HEAD'), False); return 'content-length kept' if b'content-length: 1000' in h.lower() else h.decode('latin1')[:120]
@probe
def no_body_framing(p):
    r = []
    for c in (204, 304):
        t = tls(p); st, h, _ = http(t, get(f'/status/{c}'), False); st2 = http(t, get('/small'))[0]; r.append(f"{c}:{'te' if b'transfer-encoding' in h.lower() else 'ok'},next={st2[9:12]}")
    return ' '.join(r)
@probe
def chunked_upload(p): return http(tls(p), get('/sink', m='POST', extra='Transfer-Encoding: chunked\r\n') + b'5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n')[2]
@probe
def te_and_cl(p): return http(tls(p), get('/sink', m='POST', extra='Content-Length: 3\r\nTransfer-Encoding: chunked\r\n') + b'5\r\nhello\r\n0\r\n\r\n')[0]
@probe
def upstream_close(p):
    t = tls(p); a = http(t, get('/close')); 
    try: b = http(t, get('/small'))[0]
    except Exception as e: b = f'closed ({type(e).__name__})'
    return f"{a[0][9:12]}, then {b or 'closed'}"
@probe
def hop_headers(p):
    if p is None: return '-'
    s = raw(p); st, h, b = http(s, b'GET http://bench.test:8880/headers HTTP/1.1\r\nHost: bench.test:8880\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n')
    bl = b.decode().lower(); return f"{st[9:12]} leaked: " + (','.join(k for k in ('proxy-authorization', 'proxy-connection', 'x-hop', 'httpjail') if k in bl) or 'none')
@probe
def connect_refused(p):
    if p is None: return '-'
    t0 = time.time()
    try: t = tls(p, port=1); return f'200+TLS, then {http(t, get("/", "bench.test:1"))[0]} {time.time() - t0:.2f}s'
    except Exception as e: return f'{type(e).__name__}: {e} {time.time() - t0:.2f}s'[:90]
@probe
def unknown_host(p):
    if p is None: return '-'
    t0 = time.time()
    try: t = tls(p, 'nosuch.invalid'); return f'200+TLS, then {http(t, get("/", "nosuch.invalid"))[0]} {time.time() - t0:.2f}s'
    except Exception as e: return f'{type(e).__name__}: {e} {time.time() - t0:.2f}s'[:90]
@probe
def tls_resumption(p):
    c = mk(['http/1.1']); s, _ = tunnel(p, 'bench.test'); t = c.wrap_socket(s, server_hostname='bench.test'); http(t, get('/small')); se = t.session; t.close()
    s, _ = tunnel(p, 'bench.test'); t = c.wrap_socket(s, server_hostname='bench.test', session=se); return t.session_reused
@probe
def slowloris_30s(p):
    if p is None: return '-'
    s = raw(p); s.settimeout(31); s.sendall(b'GET http://bench.test/ HT'); t0 = time.time()
    try: d = s.recv(100); return f'closed/answered after {time.time() - t0:.0f}s {d[:20]}'
    except socket.timeout: return 'still open after 31 s'
T = []
for a in sys.argv[1:]:
    n, ad = a.split('='); T.append((n, None if ad == 'none' else (ad.rsplit(':', 1)[0], int(ad.rsplit(':', 1)[1])))); OUT[n] = {}
def one(n, p, k):
    try: v = P[k](p)
    except Exception as e: v = f'FAIL {type(e).__name__}: {e}'[:110]
    OUT[n][k] = ' '.join((v.decode() if isinstance(v, bytes) else str(v)).split())
slow = [threading.Thread(target=one, args=(n, p, 'slowloris_30s')) for n, p in T]
[t.start() for t in slow]
for k in P:  # one probe, one proxy at a time
    if k != 'slowloris_30s': [one(n, p, k) for n, p in T]
[t.join() for t in slow]
names = list(OUT); print('| probe | ' + ' | '.join(names) + ' |\n|---|' + '---|' * len(names))
for k in P: print(f'| {k} | ' + ' | '.join(OUT[n][k].replace('|', '/') for n in names) + ' |')
